// The scheduler's view of the cluster: nodes with their free resources, and the pods that are bound
// or assumed. Updated by watch events; nothing is copied for a decision.
//
// A pod with a bind in flight is assumed: it counts as bound until the bind's answer or the
// watcher shows it bound (then it is confirmed) or the bind fails (then it is forgotten). A pod
// for which victims were evicted is nominated: it counts against pods of the same or lower
// priority.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/scheduler/framework/pod_info.hpp"
#include "actors/scheduler/framework/slot_counts.hpp"
#include "actors/scheduler/framework/volume_view.hpp"
#include "api/schema/core_node.pb.h"

namespace troupe::actors::scheduler {

class node_info {
 public:
  const std::string& name() const noexcept { return name_; }
  bool present() const noexcept { return object_ != nullptr; }
  const api::core::v1::Node& body() const { return object_->as<api::core::v1::Node>(); }
  const api::label_map& labels() const { return object_->meta().labels(); }
  bool unschedulable() const noexcept { return unschedulable_; }
  // Has taints of effect NoSchedule or NoExecute / of effect PreferNoSchedule.
  bool has_hard_taints() const noexcept { return hard_taints_; }
  bool has_soft_taints() const noexcept { return soft_taints_; }
  // The label topology.kubernetes.io/zone; null if missing.
  const std::string* zone() const noexcept { return zone_; }

  // A small number, unique among the known nodes.
  std::uint32_t slot() const noexcept { return slot_; }

  const resources& allocatable() const noexcept { return allocatable_; }
  const resources& requested() const noexcept { return requested_; }
  const resources& scored() const noexcept { return scored_; }
  const std::vector<host_port>& ports() const noexcept { return ports_; }
  const std::vector<pod_info_ptr>& pods() const noexcept { return pods_; }

  // The size of the leading part that most plugins read.
  static constexpr std::size_t hot_bytes = 3 * sizeof(resources) + 2 * sizeof(std::int64_t);

  // For copies of a node, from which preemption removes pods to evaluate the result.
  void add(const pod_info_ptr& pod);
  void remove(const std::string& pod_key);

 private:
  friend class cluster_view;
  void read(api::object_ptr object);

  // First the members that are read for each pod: see hot_bytes.
  bool unschedulable_ = false, hard_taints_ = false, soft_taints_ = false;
  std::uint32_t slot_ = 0;
  const std::string* zone_ = nullptr;
  resources allocatable_, requested_, scored_;
  std::string name_;
  api::object_ptr object_;  // null: pods refer to the node, but it does not exist
  std::vector<host_port> ports_;
  std::vector<pod_info_ptr> pods_;
};

// True if none of the pod's host ports is in use on the node.
bool ports_are_free(const pod_info& pod, const node_info& node);

class cluster_view {
 public:
  // -- from the watcher ---------------------------------------------------------------------------
  void put_node(api::object_ptr node);
  void remove_node(const std::string& name);
  // Adds a bound pod that has not terminated; a newer state replaces an older one.
  void put_pod(const pod_info_ptr& pod, const std::string& node);
  void remove_pod(const std::string& key);
  void put_namespace(api::object_ptr ns);
  void remove_namespace(const std::string& name);
  void put_budget(const api::object_ptr& object);
  void remove_budget(const api::object& object);
  volume_view& volumes() noexcept { return volumes_; }
  const volume_view& volumes() const noexcept { return volumes_; }

  // -- binds in flight ----------------------------------------------------------------------------
  void assume(const pod_info_ptr& pod, const std::string& node);
  void forget(const std::string& key);
  bool assumed(const std::string& key) const;
  // True for this very pod, not for another one of its name.
  bool assumed(const pod_info& pod) const;
  // The answer of the bind. Returns false and changes nothing if the pod is no longer assumed: it
  // was seen bound, was deleted, or another pod has its name.
  bool confirm(const pod_info_ptr& bound, const std::string& node);

  // -- nominations by preemption ------------------------------------------------------------------
  struct nomination {
    pod_info_ptr pod;
    std::string node;
  };
  // Counts the pod on the node for pods of the same or lower priority.
  void nominate(const pod_info_ptr& pod, const std::string& node);
  // Removes and returns the nominations that do not count against this pod: its own, and those of
  // lower priority (kubernetes: RunFilterPluginsWithNominatedPods).
  std::vector<nomination> remove_nominations(const pod_info& pod);

  // -- queries ------------------------------------------------------------------------------------
  // Existing nodes in a stable order.
  const std::vector<node_info*>& nodes() const noexcept { return order_; }
  const node_info* find(const std::string& name) const;
  // The node of a bound or assumed pod; empty if it is neither.
  const std::string& node_of(const std::string& pod_key) const;
  // The revision at which the pod is known to be bound; 0 if it is not, or only assumed.
  std::uint64_t bound_at(const std::string& pod_key) const;

  // The number of pods with required anti-affinity, of pods with any (anti-)affinity, and of
  // cordoned or tainted nodes: if 0, the plugins for them are skipped.
  std::size_t pods_with_anti_affinity() const noexcept { return anti_affinity_; }
  std::size_t pods_with_affinity() const noexcept { return affinity_; }
  std::size_t unschedulable_nodes() const noexcept { return unschedulable_; }
  std::size_t nodes_with_hard_taints() const noexcept { return hard_taints_; }
  std::size_t nodes_with_soft_taints() const noexcept { return soft_taints_; }
  // The number of pods of the pod's controller on each node, by slot, without terminating ones.
  // Null if there are none, or the pod has no controller.
  const slot_counts* siblings(const pod_info& pod) const;
  // Sums them up by the zones of the nodes.
  void add_by_zone(const slot_counts& pods,
                   std::unordered_map<std::string, std::int64_t>& into) const;
  // Matches the namespace's labels; an unknown namespace has none.
  bool selects_namespace(const api::label_selector& selector, const std::string& name) const;
  // The PodDisruptionBudgets that preemption respects for the pod.
  std::vector<api::object_ptr> budgets_of(const pod_info& pod) const;
  std::size_t pods() const noexcept { return places_.size(); }
  // The nodes that have an image, with its size there; null if no node has it.
  using image_sizes = std::unordered_map<const node_info*, std::int64_t>;
  const image_sizes* image(const std::string& name) const;

 private:
  struct place {
    std::string node;
    pod_info_ptr pod;
    bool assumed = false;
  };
  node_info& node(const std::string& name);
  using names = std::unordered_map<std::string, std::unique_ptr<node_info>>;
  void erase(names::iterator gone);
  void count_node(const node_info& node, int by);
  void count(const pod_info& pod, const node_info& on, int by);
  void list_images(const node_info& on);
  void drop_images(const node_info& on);

  names by_name_;
  std::vector<node_info*> order_;
  std::vector<const node_info*> slots_;  // null: free
  std::vector<std::uint32_t> free_slots_;
  std::unordered_map<std::string, place> places_;  // by key of the pod
  std::unordered_map<std::string, api::object_ptr> namespaces_;
  struct budget {
    api::object_ptr object;
    api::label_selector selector;
  };
  std::unordered_map<std::string, std::map<std::string, budget>> budgets_;  // by namespace and name
  std::map<std::string, nomination> nominated_;  // by key of the pod; also in `places_`
  std::unordered_map<std::string, slot_counts> by_controller_;  // uid
  std::unordered_map<std::string, image_sizes> images_;         // by name
  volume_view volumes_;
  std::size_t anti_affinity_ = 0, affinity_ = 0;
  std::size_t unschedulable_ = 0, hard_taints_ = 0, soft_taints_ = 0;
};

}  // namespace troupe::actors::scheduler
