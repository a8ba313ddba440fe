// The usage of ResourceQuotas by an object. Pure functions.
//
// kubernetes: pkg/quota/v1/evaluator/core, apiserver/pkg/quota/v1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/kind.hpp"
#include "api/object/object.hpp"
#include "api/object/pod_resources.hpp"
#include "api/schema/core_quota.pb.h"

namespace troupe::actors::quota {

// The whole usage of an object by quota names: "pods", "requests.cpu", "count/deployments.apps" ...
// A terminated pod counts only as an object, and so does an overdue one: its node is lost, and its
// grace period is over (kubernetes: QuotaV1Pod).
api::resource_list usage_of(const api::kind_info& kind, const api::body& object,
                            bool overdue = false);

// The second since the epoch after which a pod that is being deleted is overdue; nothing for other
// objects.
std::optional<std::int64_t> overdue_after(const api::object& object);

// True if objects of the kind can use any resource of the quota.
bool may_count(const api::core::v1::ResourceQuotaSpec& quota, const api::kind_info& kind);

// True if the object matches the quota's scopes; only pods match any, and claims that of their
// VolumeAttributesClass.
bool is_in_scopes(const api::core::v1::ResourceQuotaSpec& quota, const api::kind_info& kind,
                  const api::body& object);

// The object's usage of the quota's resources. Empty: none.
api::resource_list charge(const api::core::v1::ResourceQuotaSpec& quota, const api::kind_info& kind,
                          const api::body& object, bool overdue = false);

// The quota's resources that containers do not specify: "must specify cpu for: a,b; memory for: a";
// empty if all are specified.
std::string unnamed_resources(const api::core::v1::ResourceQuotaSpec& quota,
                              const api::core::v1::Pod& pod);

}  // namespace troupe::actors::quota
