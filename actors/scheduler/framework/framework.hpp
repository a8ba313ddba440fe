// The extension points of the scheduler as small interfaces: a plugin implements those that it
// needs, is registered by name (registry.hpp), and is enabled and weighted by a profile
// (profile.hpp). CONTRIBUTING.md shows an example.
//
// Plugins run on the scheduler's thread, must not block, and keep no state between pods except
// their configuration: results of PreFilter or PreScore for a pod are stored in the cycle. An
// exception of a plugin fails the attempt, and the pod is retried later.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/scheduler/framework/arguments.hpp"
#include "actors/scheduler/framework/cluster_view.hpp"
#include "actors/scheduler/framework/pod_info.hpp"
#include "api/error.hpp"
#include "persistence/transaction.hpp"

namespace troupe::actors::scheduler {

// Cluster events that may make a pod schedulable. A plugin declares those that can help the pods
// that it rejects (`helped_by`); other events do not wake such a pod.
enum cluster_event : std::uint32_t {
  node_added = 1u << 0,
  node_resources_changed = 1u << 1,
  node_labels_changed = 1u << 2,
  node_taints_changed = 1u << 3,  // or made schedulable
  pod_deleted = 1u << 4,          // a bound pod was deleted or releases resources
  pod_bound = 1u << 5,            // a pod was bound, or its labels changed
  pod_updated = 1u << 6,          // the waiting pod itself
  namespace_labels_changed = 1u << 7,
  volumes_changed = 1u << 8,  // a claim, a volume, a storage class, or the limits of a driver
  any_event = ~0u,
};

enum class status_code : std::uint8_t {
  success,
  skip,           // PreFilter, PreScore, Bind: not relevant for this pod, not called again
  unschedulable,  // not now; preemption may help
  unresolvable,   // not feasible, and preemption cannot help
};

struct status {
  status_code code = status_code::success;
  // In upstream's wording, e.g. "Insufficient cpu"; several reasons are separated by newlines.
  std::string reason;

  bool ok() const noexcept { return code == status_code::success; }
};

// State of the plugins for the pod that is being scheduled.
class cycle {
 public:
  explicit cycle(std::size_t plugins) : notes_(plugins) {}

  template <class T>
  T& make(std::size_t plugin) {
    auto note = std::make_shared<T>();
    auto& result = *note;
    notes_[plugin] = std::move(note);
    return result;
  }
  // `T` must be the type that the same plugin has made.
  template <class T>
  T& get(std::size_t plugin) const {
    return *static_cast<T*>(notes_[plugin].get());
  }

 private:
  std::vector<std::shared_ptr<void>> notes_;
};

class plugin {
 public:
  virtual ~plugin() = default;
  virtual std::string_view name() const noexcept = 0;
  virtual std::uint32_t helped_by() const noexcept { return any_event; }
  // Called once, before anything else, with the arguments of its profile.
  virtual void configure(const plugin_arguments& arguments) { static_cast<void>(arguments); }

  // The plugin's index in its profile: the index of its state in a cycle.
  std::size_t index() const noexcept { return index_; }

 private:
  friend class profile;
  std::size_t index_ = 0;
};

// Decides whether the pod may enter the queue.
class pre_enqueue_plugin {
 public:
  virtual ~pre_enqueue_plugin() = default;
  virtual status pre_enqueue(const pod_info& pod) const = 0;
};

// Returns true if `a` is scheduled before `b`.
class queue_sort_plugin {
 public:
  virtual ~queue_sort_plugin() = default;
  virtual bool before(const pod_info& a, const pod_info& b) const = 0;
};

class pre_filter_plugin {
 public:
  virtual ~pre_filter_plugin() = default;
  virtual status pre_filter(cycle& notes, const pod_info& pod, const cluster_view& view) const = 0;
  // Adds another pod on a node to the notes of pre_filter (`by` 1) or removes it (-1), for the
  // trials of preemption (kubernetes: PreFilterExtensions).
  virtual void adjust(const cycle& notes, const pod_info& pod, const cluster_view& view,
                      const pod_info& other, const node_info& node, int by) const {
    static_cast<void>(notes), static_cast<void>(pod), static_cast<void>(view);
    static_cast<void>(other), static_cast<void>(node), static_cast<void>(by);
  }
};

class filter_plugin {
 public:
  virtual ~filter_plugin() = default;
  virtual status filter(const cycle& notes, const pod_info& pod, const node_info& node) const = 0;
};

class pre_score_plugin {
 public:
  virtual ~pre_score_plugin() = default;
  virtual status pre_score(cycle& notes, const pod_info& pod, const cluster_view& view,
                           const std::vector<const node_info*>& feasible) const = 0;
};

inline constexpr std::int64_t max_score = 100;

class score_plugin {
 public:
  virtual ~score_plugin() = default;
  virtual std::int64_t score(const cycle& notes, const pod_info& pod,
                             const node_info& node) const = 0;
  // Scales the scores of all feasible nodes to 0 … max_score.
  virtual void normalize(const cycle& notes, std::vector<std::int64_t>& scores) const {
    static_cast<void>(notes), static_cast<void>(scores);
  }
};

// Reserves resources for the pod on the chosen node, and releases them if the bind fails.
class reserve_plugin {
 public:
  virtual ~reserve_plugin() = default;
  virtual status reserve(const pod_info& pod, const node_info& node) = 0;
  virtual void unreserve(const pod_info& pod, const std::string& node) = 0;
};

// The preparation of a pod on the chosen node before it is bound.
struct preparation {
  status result = {};
  bool ready = true;  // false: call again when volumes have changed
  // Committed separately; the attempt fails if one of them is rejected.
  std::vector<persistence::transaction> writes = {};
};

class pre_bind_plugin {
 public:
  virtual ~pre_bind_plugin() = default;
  // `again`: the writes of an earlier call are committed.
  virtual preparation pre_bind(const pod_info& pod, const node_info& node, const cluster_view& view,
                               bool again) const = 0;
};

// Binds the pod to the chosen and reserved node, in place of the writer's `bind`, which is the
// default if every plugin skips.
class bind_plugin {
 public:
  // Receives the result once, on any thread: the bound pod, or the error.
  using answer = std::function<void(api::expected<api::object_ptr>)>;

  virtual ~bind_plugin() = default;
  // Success: the bind is in flight, and fails without an answer within defaults::bind_timeout.
  // Skip: not handled by this plugin. Any other status fails the attempt.
  virtual status bind(const pod_info_ptr& pod, const std::string& node, answer done) = 0;
};

// The proposal of PostFilter if no node fits: pods to evict from a node.
struct preemption {
  std::string node;
  std::vector<pod_info_ptr> victims;
  std::string message = {};  // why the pod may not preempt; empty if it may
};

// The interface of the scheduler for PostFilter plugins: PreFilter and Filter of the profile's
// plugins.
class framework_handle {
 public:
  virtual ~framework_handle() = default;
  // The number of plugins in the profile: the size of a cycle.
  virtual std::size_t plugins() const noexcept = 0;
  virtual status run_pre_filters(cycle& notes, const pod_info& pod,
                                 const cluster_view& view) const = 0;
  // Checks whether the pod, for which no node was found, fits this copy of a node (preemption tries
  // nodes with fewer pods). `notes` come from `run_pre_filters`.
  virtual status run_filters(const cycle& notes, const pod_info& pod,
                             const node_info& node) const = 0;
  // pre_filter_plugin::adjust of these plugins.
  virtual void adjust(const cycle& notes, const pod_info& pod, const cluster_view& view,
                      const pod_info& other, const node_info& node, int by) const = 0;
};

class post_filter_plugin {
 public:
  virtual ~post_filter_plugin() = default;
  // `failed`: why each node was rejected, in the order of view.nodes(). An empty node: no help.
  virtual preemption post_filter(const framework_handle& handle, const pod_info_ptr& pod,
                                 const cluster_view& view,
                                 const std::vector<status>& failed) const = 0;
};

// Scales scores so that the largest becomes max_score, or the smallest if `reverse`.
void normalize_scores(std::vector<std::int64_t>& scores, bool reverse);

}  // namespace troupe::actors::scheduler
