// Whether an API can be served by its service, according to the cluster's objects. Pure.
//
// kubernetes: kube-aggregator/pkg/controllers/status, for the order, reasons and messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/schema/apiregistration_v1.pb.h"
#include "persistence/tree/snapshot.hpp"

namespace troupe::server {

// A condition of type Available.
struct api_condition {
  std::string status, reason, message;
};

api_condition passed();
// `url`: the requested URL.
api_condition failed_check(const std::string& url, const std::string& problem);

// Nullopt if the service must be checked by a request. An API without a service is local.
std::optional<api_condition> check_service(const persistence::snapshot& state,
                                           const api::apiregistration::v1::APIServiceSpec& spec);

// Whether this server itself serves the group, regardless of APIServices.
bool is_built_in(std::string_view group);

// The name of the service's port with that number; nullopt if there is none.
std::optional<std::string> port_name(const persistence::snapshot& state, const std::string& ns,
                                     const std::string& service, int port);

}  // namespace troupe::server
