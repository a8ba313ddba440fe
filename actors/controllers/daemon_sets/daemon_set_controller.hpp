// The controller of one DaemonSet: keeps a pod on each suitable node and replaces outdated pods.
//
// It keeps its pods by node, and for each node whether it is suitable. A node event is
// evaluated at once, and only if labels or taints changed. A sync uses these results and
// evaluates no node; with more nodes the pause before the next sync is longer
// (reconciler.hpp). All nodes are read from the store at a resync and after a change of the
// template.
//
// A node never gets a second pod while its first is being created: a sync ends when all its writes
// are answered, and each answer updates the table. A terminating pod occupies its node until it is
// deleted, except during a surge.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "actors/controllers/daemon_sets/daemon_pod.hpp"
#include "actors/controllers/daemon_sets/node_plan.hpp"
#include "actors/controllers/kit/revision_reconciler.hpp"

namespace troupe::actors::daemon_sets {

class daemon_set_controller : public revision_reconciler {
 public:
  using revision_reconciler::revision_reconciler;

 private:
  struct node_state {
    bool present = false;  // the node exists, not only a pod of it
    node_fit fit;
    std::map<std::string, api::object_ptr> pods;  // by key
  };
  struct failures {
    runtime::duration pause{0};
    runtime::time_point until{};
  };

  // -- state --------------------------------------------------------------------------------------
  void owner_changed() override;
  void take(const std::string& key, const api::object_ptr& dependent) override;
  void forget(const std::string& key) override;
  void forget_all() override;
  bool take_observed(const watch_event& event) override;
  void read_nodes();
  void drop_if_empty(const std::string& node);

  const DaemonSet& set() const { return owner()->as<DaemonSet>(); }
  std::vector<daemon_node> nodes() const;
  daemon_rules rules(const std::vector<daemon_node>& nodes) const;

  // -- one sync -----------------------------------------------------------------------------------
  void sync() override;
  void after_sync() override;
  std::unique_ptr<api::body> with_collision() const override;
  void create_batch();
  void failed_to_create(const std::string& problem);
  void remove_pods(const std::vector<std::string>& keys);
  void remove_ended(const std::string& node, const std::vector<std::string>& keys);
  void remove_pod(const api::object_ptr& pod);
  void report();
  void drop_old_revisions(const revision_history& revisions);

  std::map<std::string, node_state> nodes_;   // by name
  std::map<std::string, failures> failures_;  // by name of the node
  scheduler::pod_info_ptr model_;             // the pod that is matched against nodes
  std::int64_t modelled_ = 0;  // the generation of its template; 0: nodes must be read again

  // The current sync.
  std::string hash_;                 // of the current revision
  std::vector<std::string> create_;  // nodes that need a pod
  std::set<std::string> asked_;      // keys of pods that are being deleted
  std::size_t to_remove_ = 0;        // pods that this sync may still delete
};

}  // namespace troupe::actors::daemon_sets
