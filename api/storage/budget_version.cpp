// PodDisruptionBudget in policy/v1beta1, where an empty selector selects no pod.
#include "api/conversion/removed_shapes.hpp"
#include "api/schema/policy_budget.pb.h"
#include "api/storage/version_shapes.hpp"

namespace troupe::api {

namespace {

using policy::v1::PodDisruptionBudget;

void read(const body& stored, body& home) {
  home.CopyFrom(stored);
  auto& budget = static_cast<PodDisruptionBudget&>(home);
  if (budget.spec().has_selector()) from_beta_budget(*budget.mutable_spec()->mutable_selector());
}

void write(const body& home, body& stored) {
  stored.CopyFrom(home);
  auto& budget = static_cast<PodDisruptionBudget&>(stored);
  if (budget.spec().has_selector()) to_beta_budget(*budget.mutable_spec()->mutable_selector());
}

}  // namespace

const version_shape& budget_v1beta1_shape() {
  static const version_shape made{*PodDisruptionBudget::descriptor(), &read, &write};
  return made;
}

}  // namespace troupe::api
