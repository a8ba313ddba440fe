// APIServices without a service: those of the groups that this server serves itself.
#pragma once

#include <string_view>

namespace troupe::api {

// Their condition Available (kubernetes: kube-aggregator/pkg/apis/apiregistration/v1/helper,
// NewLocalAvailableAPIServiceCondition).
inline constexpr const char* local_reason = "Local";
inline constexpr const char* local_message = "Local APIServices are always available";

// The one built-in group that another server may replace, e.g. metrics-server, whose manifest
// creates the APIService.
inline constexpr std::string_view replaceable_group = "metrics.k8s.io";

}  // namespace troupe::api
