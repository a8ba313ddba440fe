// The queue of unbound pods in three parts: active (scheduled next, by priority, then by arrival),
// back-off (rejected recently; 1 s, doubling) and unschedulable (no helpful event since; retried
// after five minutes at the latest).
//
// Pure: time is an argument. A pod is in at most one part, with its newest state. The size is
// bounded by the number of unbound pods.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "actors/scheduler/framework/framework.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors::scheduler {

class queue {
 public:
  struct backoff {
    runtime::duration first;
    runtime::duration longest;
  };
  // `before` may be null: in order of arrival.
  queue(backoff times, const queue_sort_plugin* before) : times_{times}, active_{order{before}} {}

  // Adds a pod or updates its state. An unschedulable pod is retried if its spec or labels
  // changed.
  void add(const pod_info_ptr& pod, runtime::time_point now);
  // Removes a pod that was deleted or bound. Ignores unknown pods.
  void remove(const std::string& key);

  // Takes the next pod out of the queue; null if none is due. Its number of attempts is kept until
  // `remove`.
  pod_info_ptr next(runtime::time_point now);

  // The attempt failed. `helped_by`: the events that justify a retry; 0 for an error, after which
  // it is retried at the end of the back-off in any case.
  void refused(const pod_info_ptr& pod, std::uint32_t helped_by, runtime::time_point now);
  // Preemption makes room for it: it is retried without back-off once a pod is deleted.
  void nominated(const pod_info_ptr& pod, runtime::time_point now);
  // Its room was given to another pod: a nominated pod is retried at once.
  void retry(const std::string& key, runtime::time_point now);
  // Preemption failed: a nominated pod is retried at the end of its back-off.
  void back_off(const std::string& key, runtime::time_point now);

  // Handles cluster events: moves pods that they may help to active, or to back-off while their
  // back-off lasts.
  void happened(std::uint32_t events, runtime::time_point now);
  // Moves pods that have been unschedulable for too long.
  void flush(runtime::time_point now);

  // The time at which the next pod in back-off is due.
  std::optional<runtime::time_point> next_due() const;

  std::size_t active() const noexcept { return active_.size(); }
  std::size_t backing_off() const noexcept { return backing_off_.size(); }
  std::size_t unschedulable() const noexcept { return unschedulable_; }
  bool knows(const std::string& key) const { return entries_.contains(key); }

 private:
  enum class queue_part : std::uint8_t { none, active, backoff, unschedulable };
  struct entry {
    pod_info_ptr pod;
    queue_part part = queue_part::none;
    std::uint64_t came = 0;  // order of arrival
    int attempts = 0;
    runtime::time_point tried{};  // the last attempt
    runtime::time_point due{};    // end of the back-off
    std::uint32_t helped_by = 0;
  };
  struct order {
    const queue_sort_plugin* before;
    bool operator()(const entry* a, const entry* b) const;
  };

  void put(entry& e, queue_part part);
  void unlink_entry(entry& e);
  void wake(entry& e, runtime::time_point now);
  runtime::duration backoff_of(int attempts) const;

  backoff times_;
  std::unordered_map<std::string, entry> entries_;
  std::set<entry*, order> active_;
  std::set<std::pair<runtime::time_point, entry*>> backing_off_;
  std::size_t unschedulable_ = 0;
  std::uint64_t arrivals_ = 0;
};

}  // namespace troupe::actors::scheduler
