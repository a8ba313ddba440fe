// The replica count of every scalable object, as autoscaling/v1 Scale (PLURAL/scale).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "api/error.hpp"
#include "api/fwd.hpp"
#include "api/schema/autoscaling_v1.pb.h"

namespace troupe::api {

// For a kind with has_scale. 500 if an object of a custom kind has no count, as upstream.
expected<autoscaling::v1::Scale> scale_of(const kind_info& kind, const body& content);

// The count, in a scale that a client is to change, of a custom object that has none.
inline constexpr std::int32_t no_replicas = std::numeric_limits<std::int32_t>::min();

// The same, but an absent count is `no_replicas`.
//
// kubernetes: apiextensions-apiserver/pkg/registry/customresource/etcd.go, scaleUpdatedObjectInfo.
autoscaling::v1::Scale scale_to_change(const kind_info& kind, const body& content);

// The path of the replica count in an object of the kind.
std::vector<std::string> replicas_path(const kind_info& kind);

// Sets the replica count and nothing else of `scale`. 500 if a custom object has no place for
// it.
expected<void> set_scale(const kind_info& kind, body& content, const autoscaling::v1::Scale& scale);

}  // namespace troupe::api
