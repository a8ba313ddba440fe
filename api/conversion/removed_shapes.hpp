// The versions of removed_versions.hpp as shapes of v1 (kind_row.hpp).
//
// kubernetes: pkg/apis/policy/v1beta1/conversion.go, pkg/apis/discovery/v1beta1/conversion.go.
#pragma once

#include "api/kind_row.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::api {

extern const kind_shape beta_cron_job_shape;
extern const kind_shape beta_budget_shape;
extern const kind_shape beta_slice_shape;

// An empty selector of a budget selects all pods in policy/v1 and none in policy/v1beta1. In the
// other version each is a condition on a label that no pod has.
void to_beta_budget(meta::v1::LabelSelector& selector);
void from_beta_budget(meta::v1::LabelSelector& selector);

}  // namespace troupe::api
