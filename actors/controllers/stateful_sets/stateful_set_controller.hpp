// One StatefulSet: keeps its pods and their claims, and moves the pods to a new template in order.
//
// A pod's name is made from its ordinal, and a pod is created only where the store has none of that
// name, so that no crash and no stale knowledge makes two pods of one ordinal. A removal has the
// pod's state as its precondition (reconciler.hpp). A sync first makes or renumbers the revision of
// the present template; then it takes the steps of update_plan.hpp, and writes the status.
//
// Claims are looked up when a pod needs them; they are no dependents, since they outlive the pods.
#pragma once

#include <optional>
#include <string>

#include "actors/controllers/kit/revision_reconciler.hpp"
#include "actors/controllers/stateful_sets/identity.hpp"
#include "actors/controllers/stateful_sets/update_plan.hpp"

namespace troupe::actors::stateful_sets {

class stateful_set_controller : public revision_reconciler {
 public:
  using revision_reconciler::revision_reconciler;

 private:
  bool claimable(const api::object_ptr& object) const override;
  void sync() override;
  void after_sync() override;

  const StatefulSet& set() const { return owner()->as<StatefulSet>(); }
  revision_history history() const;
  set_pods read_pods() const;
  api::object_ptr pod_of(std::int32_t ordinal) const;

  std::unique_ptr<api::body> with_collision() const override;
  void read_rules(const revision_history& revisions);
  // False when creations fail: the others of this sync would fail as well.
  bool take_step(const set_step& step, const revision_history& revisions);
  bool create_pod(const set_step& step, const revision_history& revisions);
  void keep_pod(const api::object_ptr& pod, std::int32_t ordinal);
  void remove_pod(const api::object_ptr& pod);
  // The claims of an ordinal that are not there are made. False when it sent something.
  bool make_missing_claims(std::int32_t ordinal);
  bool keep_retention(const api::object_ptr& pod, std::int32_t ordinal, bool condemned);
  void failed_to_create(const std::string& object, const std::string& problem);
  void report();
  void drop_old_revisions(const revision_history& revisions);

  set_rules rules_;
};

}  // namespace troupe::actors::stateful_sets
