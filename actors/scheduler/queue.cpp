#include "actors/scheduler/queue.hpp"

#include <algorithm>

#include "actors/core/labels.hpp"
#include "actors/scheduler/framework/defaults.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::scheduler {

namespace {

// Status changes (including the scheduler's own condition) do not justify a retry.
bool changed_for_scheduling(const pod_info& was, const pod_info& now) {
  return was.pod->meta().generation() != now.pod->meta().generation() ||
         was.body().spec().scheduling_gates_size() != now.body().spec().scheduling_gates_size() ||
         !same_labels(was.pod->meta().labels(), now.pod->meta().labels());
}

}  // namespace

bool queue::order::operator()(const entry* a, const entry* b) const {
  if (before != nullptr) {
    if (before->before(*a->pod, *b->pod)) return true;
    if (before->before(*b->pod, *a->pod)) return false;
  }
  return a->came < b->came;
}

void queue::put(entry& e, queue_part part) {
  unlink_entry(e);
  e.part = part;
  if (part == queue_part::active) active_.insert(&e);
  if (part == queue_part::backoff) backing_off_.emplace(e.due, &e);
  if (part == queue_part::unschedulable) ++unschedulable_;
}

void queue::unlink_entry(entry& e) {
  if (e.part == queue_part::active) active_.erase(&e);
  if (e.part == queue_part::backoff) backing_off_.erase({e.due, &e});
  if (e.part == queue_part::unschedulable) --unschedulable_;
  e.part = queue_part::none;
}

void queue::wake(entry& e, runtime::time_point now) {
  put(e, e.due <= now ? queue_part::active : queue_part::backoff);
}

void queue::add(const pod_info_ptr& pod, runtime::time_point now) {
  auto [at, fresh] = entries_.try_emplace(pod->key);
  auto& e = at->second;
  if (fresh) {
    e.pod = pod;
    e.came = ++arrivals_;
    return put(e, queue_part::active);
  }
  if (e.pod->pod->revision() >= pod->pod->revision() && e.part != queue_part::none) return;
  const bool another = e.pod->pod->meta().uid() != pod->pod->meta().uid();
  const bool changed = another || changed_for_scheduling(*e.pod, *pod);
  const auto part = e.part;
  unlink_entry(e);  // its order may depend on its state
  e.pod = pod;
  if (another) e.attempts = 0, e.due = now;
  if (part == queue_part::unschedulable && changed) return wake(e, now);
  put(e, part);
}

void queue::remove(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  unlink_entry(found->second);
  entries_.erase(found);
}

pod_info_ptr queue::next(runtime::time_point now) {
  while (!backing_off_.empty() && backing_off_.begin()->first <= now)
    put(*backing_off_.begin()->second, queue_part::active);
  if (active_.empty()) return nullptr;
  auto& e = **active_.begin();
  unlink_entry(e);
  ++e.attempts;
  e.tried = now;
  return e.pod;
}

void queue::refused(const pod_info_ptr& pod, std::uint32_t helped_by, runtime::time_point now) {
  const auto found = entries_.find(pod->key);
  if (found == entries_.end()) return;  // removed meanwhile
  auto& e = found->second;
  e.due = now + backoff_of(e.attempts);
  e.helped_by = helped_by;
  e.tried = now;
  put(e, helped_by == 0 ? queue_part::backoff : queue_part::unschedulable);
}

void queue::nominated(const pod_info_ptr& pod, runtime::time_point now) {
  // Any event that makes room helps; pods that are bound make none.
  refused(pod, any_event & ~pod_bound, now);
  if (const auto found = entries_.find(pod->key); found != entries_.end()) found->second.due = now;
}

void queue::retry(const std::string& key, runtime::time_point now) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.part != queue_part::unschedulable) return;
  found->second.due = now;
  wake(found->second, now);
}

void queue::back_off(const std::string& key, runtime::time_point now) {
  const auto found = entries_.find(key);
  if (found != entries_.end() && found->second.part == queue_part::unschedulable)
    refused(found->second.pod, 0, now);
}

void queue::happened(std::uint32_t events, runtime::time_point now) {
  if (unschedulable_ == 0) return;
  for (auto& [key, e] : entries_)
    if (e.part == queue_part::unschedulable && (e.helped_by & events) != 0) wake(e, now);
}

void queue::flush(runtime::time_point now) {
  for (auto& [key, e] : entries_)
    if (e.part == queue_part::unschedulable && now - e.tried >= defaults::unschedulable_longest)
      wake(e, now);
}

std::optional<runtime::time_point> queue::next_due() const {
  if (backing_off_.empty()) return std::nullopt;
  return backing_off_.begin()->first;
}

runtime::duration queue::backoff_of(int attempts) const {
  auto wait = times_.first;
  for (int i = 1; i < attempts && wait < times_.longest; ++i)
    wait *= 2;
  return std::min(wait, times_.longest);
}

}  // namespace troupe::actors::scheduler
