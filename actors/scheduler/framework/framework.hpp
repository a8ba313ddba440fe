// The extension points of the scheduler, as small interfaces: a plugin implements those it has
// something to say at, registers under a name (registry.hpp), and is switched on and weighed by a
// profile (profile.hpp). CONTRIBUTING.md shows a whole one.
//
// Plugins run on the scheduler's thread, must not block, and keep nothing between pods except what
// their configuration says: what they find out in PreFilter or PreScore for one pod goes into the
// cycle. A plugin that throws fails the attempt, and the pod is tried again later.
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

// What happened in the cluster that may help a pod which found no node. A plugin says which of them
// can help the pods that it turned away (`helped_by`); the others leave such a pod where it waits.
enum cluster_event : std::uint32_t {
  node_added = 1u << 0,
  node_resources_changed = 1u << 1,
  node_labels_changed = 1u << 2,
  node_taints_changed = 1u << 3,  // or made schedulable
  pod_deleted = 1u << 4,          // a bound pod went away, or holds less
  pod_bound = 1u << 5,            // a pod was put on a node, or its labels changed
  pod_updated = 1u << 6,          // the waiting pod itself
  namespace_labels_changed = 1u << 7,
  volumes_changed = 1u << 8,  // a claim, a volume, a storage class, or the limits of a driver
  any_event = ~0u,
};

enum class status_code : std::uint8_t {
  success,
  skip,           // PreFilter, PreScore, Bind: nothing to say about this pod, do not ask again
  unschedulable,  // not there now; preemption may help
  unresolvable,   // not there, and no removal of pods would change that
};

struct status {
  status_code code = status_code::success;
  // In upstream's words, e.g. "Insufficient cpu"; several reasons stand on lines of their own.
  std::string reason;

  bool ok() const noexcept { return code == status_code::success; }
};

// Notes of the plugins for the pod that is being scheduled.
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
  // Only what the same plugin made.
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
  // Called once, before anything else: takes what the configuration of its profile says to it.
  virtual void configure(const plugin_arguments& arguments) { static_cast<void>(arguments); }

  // The plugin's place in its profile: where its notes stand in a cycle.
  std::size_t index() const noexcept { return index_; }

 private:
  friend class profile;
  std::size_t index_ = 0;
};

// May the pod enter the queue at all?
class pre_enqueue_plugin {
 public:
  virtual ~pre_enqueue_plugin() = default;
  virtual status pre_enqueue(const pod_info& pod) const = 0;
};

// True when `a` is to be scheduled before `b`.
class queue_sort_plugin {
 public:
  virtual ~queue_sort_plugin() = default;
  virtual bool before(const pod_info& a, const pod_info& b) const = 0;
};

class pre_filter_plugin {
 public:
  virtual ~pre_filter_plugin() = default;
  virtual status pre_filter(cycle& notes, const pod_info& pod, const cluster_view& view) const = 0;
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
  // Brings the scores of all feasible nodes into 0 … max_score.
  virtual void normalize(const cycle& notes, std::vector<std::int64_t>& scores) const {
    static_cast<void>(notes), static_cast<void>(scores);
  }
};

// Takes something for the pod on the chosen node, and gives it back when the bind fails.
class reserve_plugin {
 public:
  virtual ~reserve_plugin() = default;
  virtual status reserve(const pod_info& pod, const node_info& node) = 0;
  virtual void unreserve(const pod_info& pod, const std::string& node) = 0;
};

// What the pod needs on the node that was chosen, before it is bound there.
struct preparation {
  status result = {};
  bool ready = true;  // false: ask again when volumes have changed
  // To be committed, each for itself; the attempt has failed when one of them is refused.
  std::vector<persistence::transaction> writes = {};
};

class pre_bind_plugin {
 public:
  virtual ~pre_bind_plugin() = default;
  // `again`: what was to be written is written.
  virtual preparation pre_bind(const pod_info& pod, const node_info& node, const cluster_view& view,
                               bool again) const = 0;
};

// Puts the pod on the node that was chosen and reserved for it, in place of the writer's `bind`,
// which is what happens when every plugin skips.
class bind_plugin {
 public:
  // How it ended, said once and from any thread: the bound pod, or why it is not bound.
  using answer = std::function<void(api::expected<api::object_ptr>)>;

  virtual ~bind_plugin() = default;
  // Success: it is under way, and counts as failed when nothing was said for
  // defaults::bind_timeout. Skip: no business of this plugin. Else the pod has had this attempt.
  virtual status bind(const pod_info_ptr& pod, const std::string& node, answer done) = 0;
};

// What PostFilter proposes when no node fits: pods to evict from a node.
struct preemption {
  std::string node;
  std::vector<pod_info_ptr> victims;
  std::string message = {};  // why the pod may not ask for room at all; empty where it may
};

// What PostFilter may ask of the scheduler for a pod: PreFilter and Filter of the profile's
// plugins.
class framework_handle {
 public:
  virtual ~framework_handle() = default;
  // Plugins in the profile: the size of a cycle.
  virtual std::size_t plugins() const noexcept = 0;
  virtual status run_pre_filters(cycle& notes, const pod_info& pod,
                                 const cluster_view& view) const = 0;
  // Whether the pod, for which no node was found just now, fits this very node (preemption tries
  // nodes with fewer pods). `notes` come from `run_pre_filters`.
  virtual status run_filters(const cycle& notes, const pod_info& pod,
                             const node_info& node) const = 0;
};

class post_filter_plugin {
 public:
  virtual ~post_filter_plugin() = default;
  // `failed`: why each node was refused, in the order of view.nodes(). An empty node: no help.
  virtual preemption post_filter(const framework_handle& handle, const pod_info_ptr& pod,
                                 const cluster_view& view,
                                 const std::vector<status>& failed) const = 0;
};

// Scales scores so that the largest becomes max_score; turned round, the smallest does.
void normalize_scores(std::vector<std::int64_t>& scores, bool reverse);

}  // namespace troupe::actors::scheduler
