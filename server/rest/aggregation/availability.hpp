// Whether an API can be served by its service, as far as the cluster's objects say it. Pure.
//
// kubernetes: kube-aggregator/pkg/controllers/status, for the order, reasons and messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/schema/apiregistration_v1.pb.h"
#include "persistence/tree/snapshot.hpp"

namespace troupe::server {

// Of type Available.
struct api_condition {
  std::string status, reason, message;
};

api_condition passed();
// `url`: what was asked for.
api_condition failed_check(const std::string& url, const std::string& problem);

// Nothing where the service is to be asked. An API without a service is local.
std::optional<api_condition> check_service(const persistence::snapshot& state,
                                           const api::apiregistration::v1::APIServiceSpec& spec);

// This server itself serves the group, whatever an APIService says.
bool is_built_in(std::string_view group);

// The name of the service's port of that number; nothing where it has none.
std::optional<std::string> port_name(const persistence::snapshot& state, const std::string& ns,
                                     const std::string& service, int port);

}  // namespace troupe::server
