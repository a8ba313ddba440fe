// The controller of one StatefulSet: keeps its pods and claims, and rolls pods to a new template.
//
// A pod's name is made from its ordinal, and a pod is created only if the store has none of that
// name, so no crash and no stale state leads to two pods of one ordinal. A removal has the pod's
// state as its precondition (reconciler.hpp). A sync first creates or renumbers the revision of the
// current template, then takes the steps of update_plan.hpp, then writes the status.
//
// Claims are read when a pod needs them; they are not dependents because they outlive the pods.
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
  set_pods read_pods() const;
  api::object_ptr pod_of(std::int32_t ordinal) const;

  std::unique_ptr<api::body> with_collision() const override;
  void read_rules(const revision_history& revisions);
  // Returns false if a creation failed: the others of this sync would fail as well.
  bool take_step(const set_step& step, const revision_history& revisions);
  bool create_pod(const set_step& step, const revision_history& revisions);
  void keep_pod(const api::object_ptr& pod, std::int32_t ordinal);
  void remove_pod(const api::object_ptr& pod);
  // Creates the missing claims of an ordinal. Returns false if it sent a write.
  bool make_missing_claims(std::int32_t ordinal);
  bool keep_retention(const api::object_ptr& pod, std::int32_t ordinal, bool condemned);
  void failed_to_create(const std::string& object, const std::string& problem);
  void report();
  void drop_old_revisions(const revision_history& revisions);

  set_rules rules_;
};

}  // namespace troupe::actors::stateful_sets
