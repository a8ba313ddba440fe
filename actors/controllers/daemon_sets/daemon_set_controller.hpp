// One DaemonSet: keeps a pod on each node that fits, and replaces pods of old templates.
//
// It keeps its pods by node, and of each node whether the node fits. A change of a node is looked
// at once, as it comes, and only when its labels or taints have changed; a sync goes over what is
// remembered, without a look at any node, and the next sync begins the later, the more nodes there
// are (reconciler.hpp). Nodes are read from the store at a resync and after a change of the
// template.
//
// A node whose pod was asked for and is not yet in the store gets no second one: a sync ends when
// all that it sent is answered, and an answer puts the pod into the table at once. A pod that is on
// its way out holds its node until it has gone, but for a surge.
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
    bool present = false;  // the node is there, not only a pod of it
    node_fit fit;
    std::map<std::string, api::object_ptr> pods;  // by key
  };
  struct failures {
    runtime::duration pause{0};
    runtime::time_point until{};
  };

  // -- what it knows ------------------------------------------------------------------------------
  void owner_changed() override;
  void take(const std::string& key, const api::object_ptr& dependent) override;
  void forget(const std::string& key) override;
  void forget_all() override;
  const api::object* find(const std::string& key) const override;
  bool take_observed(const watch_event& event) override;
  void read_nodes();
  void drop_if_empty(const std::string& node);

  const DaemonSet& set() const { return owner()->as<DaemonSet>(); }
  revision_history history() const;
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

  std::map<std::string, api::object_ptr> objects_;  // pods and revisions by key
  std::map<std::string, node_state> nodes_;         // by name
  std::map<std::string, failures> failures_;        // by name of the node
  scheduler::pod_info_ptr model_;                   // the pod that nodes are compared with
  std::int64_t modelled_ = 0;  // the generation it was made from; 0: nodes are to be read

  // The sync that is under way.
  std::string hash_;                 // of the present revision
  std::vector<std::string> create_;  // nodes that are to get a pod
  std::set<std::string> asked_;      // keys of pods that are being removed
  std::size_t to_remove_ = 0;        // pods that this sync may yet remove
};

}  // namespace troupe::actors::daemon_sets
