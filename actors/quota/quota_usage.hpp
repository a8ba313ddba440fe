// What an object counts for in ResourceQuotas. Pure functions.
//
// kubernetes: pkg/quota/v1/evaluator/core, apiserver/pkg/quota/v1.
#pragma once

#include <optional>
#include <string>

#include "api/kind.hpp"
#include "api/object/pod_resources.hpp"
#include "api/schema/core_quota.pb.h"

namespace troupe::actors::quota {

// All that the object counts for, by the names of quotas: "pods", "requests.cpu",
// "count/deployments.apps" ... A pod that has ended counts as an object only.
api::resource_list usage_of(const api::kind_info& kind, const api::body& object);

// Whether objects of the kind can count for anything that the quota bounds.
bool may_count(const api::core::v1::ResourceQuotaSpec& quota, const api::kind_info& kind);

// Whether the object is within the scopes of the quota; only pods are in any, and claims in that of
// their VolumeAttributesClass.
bool is_in_scopes(const api::core::v1::ResourceQuotaSpec& quota, const api::kind_info& kind,
                  const api::body& object);

// What the object takes of the quota: of the resources that it bounds. Empty: nothing.
api::resource_list charge(const api::core::v1::ResourceQuotaSpec& quota, const api::kind_info& kind,
                          const api::body& object);

// Which of the resources that the quota bounds the containers do not name:
// "must specify cpu for: a,b; memory for: a"; empty: they name all.
std::string unnamed_resources(const api::core::v1::ResourceQuotaSpec& quota,
                              const api::core::v1::Pod& pod);

}  // namespace troupe::actors::quota
