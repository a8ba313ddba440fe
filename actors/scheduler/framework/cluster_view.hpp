// What the scheduler knows of the cluster: nodes with what is free on them, and the pods that are
// on them or assumed to be. Kept up to date by watch events; nothing is copied for a decision.
//
// A pod that a bind is under way for is assumed: it counts as if it were bound, until the bind's
// answer or the watcher shows it bound (then it is confirmed) or the bind fails (then it is
// forgotten). A pod for which others have been asked to leave is nominated: it counts against pods
// that are no more important.
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
  bool repels() const noexcept { return repels_; }
  bool prefers_others() const noexcept { return prefers_others_; }
  // Of its label topology.kubernetes.io/zone; null: none.
  const std::string* zone() const noexcept { return zone_; }

  // A small number that no other node has while this one is known.
  std::uint32_t slot() const noexcept { return slot_; }

  const resources& allocatable() const noexcept { return allocatable_; }
  const resources& requested() const noexcept { return requested_; }
  const resources& scored() const noexcept { return scored_; }
  const std::vector<host_port>& ports() const noexcept { return ports_; }
  const std::vector<pod_info_ptr>& pods() const noexcept { return pods_; }

  // The part at the beginning that most plugins do with.
  static constexpr std::size_t hot_bytes = 3 * sizeof(resources) + 2 * sizeof(std::int64_t);

  // Copies of a node from which pods are taken, to try what preemption would bring.
  void add(const pod_info_ptr& pod);
  void remove(const std::string& pod_key);

 private:
  friend class cluster_view;
  void read(api::object_ptr object);

  // First what is looked at for each pod: see hot_bytes.
  bool unschedulable_ = false, repels_ = false, prefers_others_ = false;
  std::uint32_t slot_ = 0;
  const std::string* zone_ = nullptr;
  resources allocatable_, requested_, scored_;
  std::string name_;
  api::object_ptr object_;  // null: pods are known but the node is not (any more)
  std::vector<host_port> ports_;
  std::vector<pod_info_ptr> pods_;
};

// None of the host ports that the pod wants is taken there.
bool ports_are_free(const pod_info& pod, const node_info& node);

class cluster_view {
 public:
  // -- from the watcher ---------------------------------------------------------------------------
  void put_node(api::object_ptr node);
  void remove_node(const std::string& name);
  // A pod that is bound and neither finished nor gone; a newer state replaces an older one.
  void put_pod(const pod_info_ptr& pod, const std::string& node);
  void remove_pod(const std::string& key);
  void put_namespace(api::object_ptr ns);
  void remove_namespace(const std::string& name);
  void clear();
  volume_view& volumes() noexcept { return volumes_; }
  const volume_view& volumes() const noexcept { return volumes_; }

  // -- binds under way ----------------------------------------------------------------------------
  void assume(const pod_info_ptr& pod, const std::string& node);
  void forget(const std::string& key);
  bool assumed(const std::string& key) const;
  // That very pod, not another of its name.
  bool assumed(const pod_info& pod) const;
  // The bind was answered with this state. False, and nothing changes, when the pod is no longer
  // assumed: it was seen bound, has gone, or another has its name.
  bool confirm(const pod_info_ptr& bound, const std::string& node);

  // -- room that preemption makes -----------------------------------------------------------------
  struct nomination {
    pod_info_ptr pod;
    std::string node;
  };
  // The pod counts as if it were on the node, for pods that are no more important than it is.
  void nominate(const pod_info_ptr& pod, const std::string& node);
  // Takes away, and returns, the nominations that do not stand in this pod's way: its own, and
  // those of less important pods (kubernetes: RunFilterPluginsWithNominatedPods).
  std::vector<nomination> lift(const pod_info& pod);

  // -- looking ------------------------------------------------------------------------------------
  // Nodes that are present, in a stable order.
  const std::vector<node_info*>& nodes() const noexcept { return order_; }
  const node_info* find(const std::string& name) const;
  // The node of a bound or assumed pod; empty when it is neither.
  const std::string& node_of(const std::string& pod_key) const;
  // The state in which the pod is known as bound; 0 when it is not, or only assumed to be.
  std::uint64_t bound_at(const std::string& pod_key) const;

  // How many pods have required anti-affinity, and any pod (anti-)affinity, and how many nodes are
  // cordoned or tainted: while there are none, the plugins for them have nothing to do.
  std::size_t pods_with_anti_affinity() const noexcept { return anti_affinity_; }
  std::size_t pods_with_affinity() const noexcept { return affinity_; }
  std::size_t unschedulable_nodes() const noexcept { return unschedulable_; }
  std::size_t nodes_that_repel() const noexcept { return repel_; }
  std::size_t nodes_that_prefer_others() const noexcept { return prefers_others_; }
  // How many pods of the same controller each node has, by its slot, those that are to end aside.
  // Null where there is none, or the pod has no controller.
  const slot_counts* siblings(const pod_info& pod) const;
  // How many of them each of the nodes' zones has.
  void add_by_zone(const slot_counts& pods,
                   std::unordered_map<std::string, std::int64_t>& into) const;
  // By its labels; a namespace that is not known has none.
  bool selects_namespace(const api::label_selector& selector, const std::string& name) const;
  std::size_t pods() const noexcept { return places_.size(); }
  // The nodes that have an image, with its size there; null: none has.
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
  std::map<std::string, nomination> nominated_;  // by key of the pod; each has a place as well
  std::unordered_map<std::string, slot_counts> by_controller_;  // uid
  std::unordered_map<std::string, image_sizes> images_;         // by name
  volume_view volumes_;
  std::size_t anti_affinity_ = 0, affinity_ = 0;
  std::size_t unschedulable_ = 0, repel_ = 0, prefers_others_ = 0;
};

}  // namespace troupe::actors::scheduler
