#include "server/console/views/sampler.hpp"

#include <algorithm>

#include "server/console/defaults.hpp"

namespace troupe::server {
namespace {

const actor_mark* find(const std::vector<actor_mark>& marks, std::uint64_t id) {
  const auto found =
      std::lower_bound(marks.begin(), marks.end(), id,
                       [](const actor_mark& m, std::uint64_t i) { return m.id < i; });
  return found != marks.end() && found->id == id ? &*found : nullptr;
}

// Keeps the rows with the largest numbers.
template <class Number>
void keep(std::vector<actor_rate>& into, const actor_rate& row, Number number) {
  const auto before = [&](const actor_rate& a, const actor_rate& b) {
    return number(a) > number(b);
  };
  if (into.size() == defaults::top_actors && !before(row, into.back())) return;
  into.insert(std::upper_bound(into.begin(), into.end(), row, before), row);
  if (into.size() > defaults::top_actors) into.pop_back();
}

// A condition that lies in the past.
bool has_stood_out(const actor_rate& row) {
  return row.new_restarts > 0 || (row.new_longest && row.info.longest > defaults::warn_handler);
}

bool stands_out(const actor_rate& row) {
  return has_stood_out(row) || row.info.current_for > defaults::warn_handler;
}

}  // namespace

void sampler::transport(std::function<http_stats()> from) {
  const std::lock_guard lock{mutex_};
  transport_ = std::move(from);
}

sampler::pair sampler::look() {
  const std::lock_guard lock{mutex_};
  const auto now = system_.time().now();
  if (samples_.empty() || now - samples_.back()->at >= defaults::sample_period) {
    samples_.push_back(take());
    if (samples_.size() > defaults::samples_kept) samples_.pop_front();
  }
  pair found;
  found.now = samples_.back();
  found.before = samples_.size() > 1 ? samples_[samples_.size() - 2] : found.now;
  const auto apart = std::chrono::duration<double>{found.now->at - found.before->at}.count();
  found.seconds = apart > 0 ? apart : 1;
  return found;
}

std::vector<std::shared_ptr<const system_sample>> sampler::kept() {
  look();
  const std::lock_guard lock{mutex_};
  return {samples_.begin(), samples_.end()};
}

std::shared_ptr<const system_sample> sampler::take() {
  auto made = std::make_shared<system_sample>();
  made->at = system_.time().now();
  if (store_ != nullptr) made->store = store_->stats();
  if (transport_) made->http = transport_();
  if (others_) made->links = others_->links();
  double seconds = 0;
  if (!samples_.empty())
    seconds = std::chrono::duration<double>{made->at - samples_.back()->at}.count();
  for (const auto& [kind, past] : system_.actors().ended_totals()) {
    auto& sums = made->kinds[kind];
    sums.handled = past.handled;
    sums.restarts = past.restarts;
    sums.busy = past.busy;
    made->handled += past.handled;
  }
  mark(*made, seconds);
  remember(*made);
  // Charts only need the sums.
  if (samples_.size() >= 2) {
    auto slim = std::make_shared<system_sample>(*samples_[samples_.size() - 2]);
    slim->busiest = {};
    slim->fullest = {};
    slim->suspicious = {};
    slim->stood_out = {};
    slim->kinds = {};
    slim->links = {};
    samples_[samples_.size() - 2] = std::move(slim);
  }
  return made;
}

void sampler::mark(system_sample& into, double seconds) {
  std::vector<actor_mark> marks;
  marks.reserve(marks_.size());
  actor_rate row;
  system_.actors().each([&](const runtime::actor_info& each) {
    auto& sums = into.kinds[each.kind];
    ++sums.actors;
    sums.mailbox += each.mailbox;
    sums.handled += each.handled;
    sums.restarts += each.restarts;
    sums.busy += each.busy;
    sums.oldest = std::max(sums.oldest, each.oldest);
    ++into.actors;
    into.mailbox += each.mailbox;
    into.handled += each.handled;
    marks.push_back({each.id, each.handled, each.mailbox, each.busy, each.longest, each.restarts});
    const auto* before = find(marks_, each.id);
    const actor_mark none{.id = each.id, .restarts = each.restarts};
    const auto& past = before != nullptr ? *before : none;
    const bool idle = each.handled == past.handled && each.mailbox == 0 && each.current.empty() &&
                      each.restarts == past.restarts;
    if (idle) return;
    row.info = each;
    row.mailbox_before = past.mailbox;
    row.new_restarts = each.restarts - past.restarts;
    row.new_longest = before != nullptr && each.longest > past.longest;
    if (seconds > 0) {
      row.handled_per_second = static_cast<double>(each.handled - past.handled) / seconds;
      row.busy_share = std::chrono::duration<double>{each.busy - past.busy}.count() / seconds;
    }
    keep(into.busiest, row, [](const actor_rate& r) { return r.busy_share; });
    if (each.mailbox > 0)
      keep(into.fullest, row, [](const actor_rate& r) { return r.info.mailbox; });
    if (stands_out(row) && into.suspicious.size() < defaults::warnings_limit)
      into.suspicious.push_back(row);
  });
  std::sort(marks.begin(), marks.end(),
            [](const actor_mark& a, const actor_mark& b) { return a.id < b.id; });
  marks_ = std::move(marks);
}

void sampler::remember(system_sample& fresh) {
  std::erase_if(outstanding_,
                [&](const outstanding& each) { return fresh.at - each.at > defaults::warn_time; });
  for (auto row : fresh.suspicious) {
    if (!has_stood_out(row)) continue;
    std::erase_if(outstanding_, [&](const outstanding& each) {
      if (each.row.info.id != row.info.id) return false;
      row.new_restarts += each.row.new_restarts;
      row.new_longest = row.new_longest || each.row.new_longest;
      return true;
    });
    outstanding_.push_back({fresh.at, std::move(row)});
    if (outstanding_.size() > defaults::warnings_limit) outstanding_.pop_front();
  }
  for (const auto& each : outstanding_)
    fresh.stood_out.push_back(each.row);
}

}  // namespace troupe::server
