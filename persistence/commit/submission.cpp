#include "persistence/commit/submission.hpp"

#include <google/protobuf/message.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/schema/meta_object.pb.h"
#include "persistence/defaults.hpp"

namespace troupe::persistence {

namespace {

expected<void> check(const mutation& change) {
  if (change.key.empty()) return fail(errc::invalid, "a mutation has no key");
  if (change.content == nullptr) return {};
  if (change.kind == nullptr || change.content->GetDescriptor() != &change.kind->type())
    return fail(errc::invalid,
                fmt::format("the content of {} is not of the mutation's kind", change.key));
  return {};
}

bool names_a_key_twice(const std::vector<mutation>& mutations) {
  if (mutations.size() < 2) return false;
  std::vector<std::string_view> keys;
  keys.reserve(mutations.size());
  for (const auto& each : mutations)
    keys.push_back(each.key);
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

}  // namespace

error conflict(const precondition& wanted, revision actual) {
  std::string message;
  if (wanted.at == 0)
    message = fmt::format("{} exists already, at revision {}", wanted.key, actual);
  else if (actual == 0)
    message =
        fmt::format("{} does not exist; it was expected at revision {}", wanted.key, wanted.at);
  else
    message = fmt::format("{} has been changed: it was expected at revision {} and is at {}",
                          wanted.key, wanted.at, actual);
  return {errc::conflict, std::move(message), wanted.key, actual};
}

error exceeded(const bound& allowed, std::uint64_t actual) {
  const bool bytes = allowed.unit == bound::measure::bytes;
  return {errc::exceeded,
          fmt::format("the store holds {} {} and may hold {}", actual,
                      bytes ? "bytes" : "objects below " + allowed.prefix, allowed.limit),
          bytes ? std::string{} : allowed.prefix, actual, allowed.limit};
}

expected<std::vector<std::string>> encode(transaction& request, std::size_t value_limit_bytes) {
  std::vector<std::string> stored;
  stored.reserve(request.mutations.size());
  if (names_a_key_twice(request.mutations))
    return fail(errc::invalid, "a transaction may change a key only once");
  for (const auto& each : request.mutations) {
    if (auto good = check(each); !good) return fail(std::move(good.error()));
    if (each.content == nullptr) {
      stored.emplace_back();
      continue;
    }
    api::meta_of(*each.content).clear_resource_version();
    stored.push_back(api::to_storage(*each.kind, *each.content));
    if (stored.back().size() > value_limit_bytes)
      return fail(errc::too_large, fmt::format("{} takes {} bytes, the store keeps at most {}",
                                               each.key, stored.back().size(), value_limit_bytes));
  }
  return stored;
}

submit_queue::submit_queue(std::size_t limit, std::size_t limit_bytes)
    : limit_{limit}, limit_bytes_{limit_bytes} {}

expected<void> submit_queue::push(submission& submitted) {
  std::unique_lock lock{mutex_};
  if (closed_) return fail(errc::closed, "the store is shutting down");
  if (refusal_) return fail(*refusal_);
  if (waiting_.size() >= limit_ || waiting_bytes_ + submitted.size_bytes > limit_bytes_)
    return fail(errc::overloaded,
                fmt::format("{} transactions of {} bytes wait for the disk: try again later",
                            waiting_.size(), waiting_bytes_));
  waiting_bytes_ += submitted.size_bytes;
  waiting_.push_back(std::move(submitted));
  const bool wake = taker_waits_ && worth_taking();
  if (wake) taker_waits_ = false;
  lock.unlock();
  if (wake) changed_.notify_one();
  return {};
}

bool submit_queue::post(task next) {
  {
    std::lock_guard lock{mutex_};
    if (closed_) return false;
    tasks_.push_back(std::move(next));
  }
  changed_.notify_one();
  return true;
}

void submit_queue::refuse(std::optional<error> reason) {
  std::lock_guard lock{mutex_};
  refusal_ = std::move(reason);
}

void submit_queue::hold(bool held) {
  {
    std::lock_guard lock{mutex_};
    if (std::exchange(held_, held) == held || held) return;
  }
  changed_.notify_one();
}

void submit_queue::close() {
  {
    std::lock_guard lock{mutex_};
    closed_ = true;
  }
  changed_.notify_one();
}

// While the disk is busy, a few transactions are not worth a wake-up.
bool submit_queue::worth_taking() const {
  return !is_held() && waiting_.size() >= (disk_free_ ? 1 : defaults::staging_chunk);
}

submit_queue::work submit_queue::take(batch_size limit, std::optional<deadline> until) {
  work taken;
  std::unique_lock lock{mutex_};
  while (until && !closed_ && tasks_.empty() && !worth_taking()) {
    taker_waits_ = true;
    if (changed_.wait_until(lock, *until) == std::cv_status::timeout) break;
  }
  taker_waits_ = false;
  taken.closed = closed_;
  taken.tasks.swap(tasks_);
  if (taken.tasks.empty()) take_submissions(taken, limit);
  if (!taken.submissions.empty()) claim_disk(taken);
  return taken;
}

submit_queue::work submit_queue::more(batch_size limit) {
  work taken;
  std::unique_lock lock{mutex_};
  while (!disk_free_ && !(limit.count > 0 && worth_taking())) {
    taker_waits_ = true;
    changed_.wait(lock);
  }
  taker_waits_ = false;
  take_submissions(taken, limit);
  claim_disk(taken);
  return taken;
}

void submit_queue::take_submissions(work& into, batch_size limit) {
  if (is_held()) return;
  std::size_t sum = 0;
  while (!waiting_.empty() && into.submissions.size() < limit.count) {
    auto& next = waiting_.front();
    if (sum != 0 && sum + next.size_bytes > limit.bytes) break;
    sum += next.size_bytes;
    into.submissions.push_back(std::move(next));
    waiting_.pop_front();
  }
  waiting_bytes_ -= sum;
}

void submit_queue::claim_disk(work& into) {
  into.disk = std::exchange(disk_free_, false);
}

void submit_queue::acquire_disk() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return disk_free_; });
  disk_free_ = false;
}

void submit_queue::release_disk() {
  {
    std::lock_guard lock{mutex_};
    disk_free_ = true;
  }
  changed_.notify_one();
}

std::size_t submit_queue::size() const {
  std::lock_guard lock{mutex_};
  return waiting_.size();
}

}  // namespace troupe::persistence
