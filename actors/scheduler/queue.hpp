// The pods that wait for a node, in three parts: active (to be tried now, by priority, then by the
// time they came), back-off (tried lately; 1 s, doubling) and unschedulable (nothing in the cluster
// has changed that could help; tried again after five minutes at the latest).
//
// Pure: time is handed in. A pod stands in one part at most, with its newest state. Holds no more
// than there are unbound pods.
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
  // `before` may be null: first come, first served.
  queue(backoff times, const queue_sort_plugin* before) : times_{times}, active_{order{before}} {}

  // A new pod, or a newer state of one that waits. One that waits as unschedulable is tried again
  // if its spec or labels changed.
  void add(const pod_info_ptr& pod, runtime::time_point now);
  // Gone or bound. Harmless for a pod that is not here.
  void remove(const std::string& key);

  // The next pod to try; nothing when none is due. It is no longer in the queue, but its number of
  // attempts is remembered until `done`.
  pod_info_ptr next(runtime::time_point now);

  // Tried in vain. `helped_by`: which events make it worth another try; 0 for an error, after which
  // it is tried again when its back-off is over whatever happens.
  void refused(const pod_info_ptr& pod, std::uint32_t helped_by, runtime::time_point now);
  // Room is being made for it: it is tried again, without back-off, as soon as a pod has gone.
  void nominated(const pod_info_ptr& pod, runtime::time_point now);
  // The room is not coming: a nominated pod is tried again at once.
  void retry(const std::string& key, runtime::time_point now);
  // Bound: its attempts are forgotten.
  void done(const std::string& key);

  // Something happened in the cluster: pods that it may help move to active, or to back-off while
  // that lasts.
  void happened(std::uint32_t events, runtime::time_point now);
  // Moves those that have waited as unschedulable for too long.
  void flush(runtime::time_point now);

  // When the next pod in back-off is due.
  std::optional<runtime::time_point> next_due() const;

  std::size_t active() const noexcept { return active_.size(); }
  std::size_t backing_off() const noexcept { return backing_off_.size(); }
  std::size_t unschedulable() const noexcept { return unschedulable_; }
  bool knows(const std::string& key) const { return entries_.contains(key); }
  int attempts(const std::string& key) const;

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
  void take_out(entry& e);
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
