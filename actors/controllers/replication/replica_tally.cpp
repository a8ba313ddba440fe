#include "actors/controllers/replication/replica_tally.hpp"

#include <algorithm>

#include "api/schema/core_pod.pb.h"

namespace troupe::actors::replication {

void replica_tally::owner(const replica_owner& owner) {
  min_ready_seconds_ = owner.min_ready_seconds();
  const auto& labels = owner.pod_template().metadata().labels();
  std::vector<std::pair<std::string, std::string>> changed(labels.begin(), labels.end());
  std::sort(changed.begin(), changed.end());
  if (changed == template_labels_) return;
  template_labels_ = std::move(changed);
  counts_ = {};
  for (auto& [key, e] : pods_) {
    e.fully_labeled = fully_labeled(e.record);
    count(e, +1);
  }
}

void replica_tally::put(const std::string& key, pod_record record) {
  entry fresh{std::move(record), false};
  fresh.fully_labeled = fully_labeled(fresh.record);
  auto [at, inserted] = pods_.try_emplace(key);
  if (!inserted) count(at->second, -1);
  at->second = std::move(fresh);
  count(at->second, +1);
}

void replica_tally::remove(const std::string& key) {
  auto found = pods_.find(key);
  if (found == pods_.end()) return;
  count(found->second, -1);
  pods_.erase(found);
}

void replica_tally::clear() {
  pods_.clear();
  counts_ = {};
}

const pod_record* replica_tally::find(const std::string& key) const {
  auto found = pods_.find(key);
  return found == pods_.end() ? nullptr : &found->second.record;
}

replica_counts replica_tally::counts(std::int64_t now) const {
  replica_counts result = counts_;
  result.available = result.ready;
  if (min_ready_seconds_ == 0) return result;
  for (const auto& [key, e] : pods_) {
    const auto& pod = e.record;
    if (pod.active() && pod.ready && pod.ready_since + min_ready_seconds_ > now) --result.available;
  }
  return result;
}

std::optional<std::int64_t> replica_tally::next_available_in(std::int64_t now) const {
  if (min_ready_seconds_ == 0) return std::nullopt;
  std::optional<std::int64_t> soonest;
  for (const auto& [key, e] : pods_) {
    if (!e.record.active() || !e.record.ready) continue;
    const auto left = e.record.ready_since + min_ready_seconds_ - now;
    if (left > 0 && (!soonest || left < *soonest)) soonest = left;
  }
  return soonest;
}

std::vector<const pod_record*> replica_tally::active() const {
  std::vector<const pod_record*> result;
  result.reserve(static_cast<std::size_t>(counts_.active));
  for (const auto& [key, e] : pods_)
    if (e.record.active()) result.push_back(&e.record);
  return result;
}

void replica_tally::count(const entry& e, std::int32_t by) {
  if (!e.record.active()) return;
  counts_.active += by;
  if (e.fully_labeled) counts_.fully_labeled += by;
  if (e.record.ready) counts_.ready += by;
  if (!e.record.assigned) counts_.waiting += by;
}

bool replica_tally::fully_labeled(const pod_record& record) const {
  const auto& labels = record.pod->meta().labels();
  return std::all_of(template_labels_.begin(), template_labels_.end(), [&](const auto& wanted) {
    auto found = labels.find(wanted.first);
    return found != labels.end() && found->second == wanted.second;
  });
}

}  // namespace troupe::actors::replication
