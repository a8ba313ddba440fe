#include "server/rest/aggregation/availability.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/core/labels.hpp"
#include "api/kind.hpp"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/scheme.hpp"
#include "api/values/local_api_services.hpp"
#include "server/rest/proxy/proxy_target.hpp"

namespace troupe::server {
namespace {

using api::apiregistration::v1::APIServiceSpec;
using api::core::v1::Service;

bool has_slices(const persistence::snapshot& state, const std::string& ns,
                const std::string& service) {
  bool found = false;
  state.scan(api::kind_of<api::discovery::v1::EndpointSlice>().prefix(ns), "",
             [&](std::string_view, const api::object_ptr& slice) {
               found = actors::label_of(*slice, "kubernetes.io/service-name") == service;
               return !found;
             });
  return found;
}

}  // namespace

bool is_built_in(std::string_view group) {
  const auto all = api::scheme::instance().all();
  return group != api::replaceable_group &&
         std::any_of(all.begin(), all.end(),
                     [&](const auto* kind) { return kind->group() == group && !kind->custom(); });
}

api_condition passed() {
  return {"True", "Passed", "all checks passed"};
}

api_condition failed_check(const std::string& url, const std::string& problem) {
  return {"False", "FailedDiscoveryCheck",
          fmt::format("failing or missing response from {}: {}", url, problem)};
}

std::optional<std::string> port_name(const persistence::snapshot& state, const std::string& ns,
                                     const std::string& service, int port) {
  const auto found = state.find(api::kind_of<Service>().key(ns, service));
  if (!found) return std::nullopt;
  for (const auto& each : found->as<Service>().spec().ports())
    if (each.port() == port) return each.name();
  return std::nullopt;
}

std::optional<api_condition> check_service(const persistence::snapshot& state,
                                           const APIServiceSpec& spec) {
  if (!spec.has_service()) return api_condition{"True", api::local_reason, api::local_message};
  if (is_built_in(spec.group()))
    return api_condition{
        "False", "ServedLocally",
        fmt::format("group {} is built in, and served by this server alone", spec.group())};
  const auto& ns = spec.service().namespace_();
  const auto& name = spec.service().name();
  const auto service = state.find(api::kind_of<Service>().key(ns, name));
  if (!service)
    return api_condition{"False", "ServiceNotFound",
                         fmt::format("service/{} in \"{}\" is not present", name, ns)};
  const auto& type = service->as<Service>().spec().type();
  if (!type.empty() && type != "ClusterIP") return std::nullopt;
  const auto port = port_name(state, ns, name, spec.service().port());
  if (!port)
    return api_condition{"False", "ServicePortError",
                         fmt::format("service/{} in \"{}\" is not listening on port {}", name, ns,
                                     spec.service().port())};
  if (!has_slices(state, ns, name))
    return api_condition{
        "False", "EndpointsNotFound",
        fmt::format("cannot find endpointslices for service/{} in \"{}\"", name, ns)};
  if (ready_endpoints(state, ns, name, *port).empty())
    return api_condition{
        "False", "MissingEndpoints",
        fmt::format(
            "endpointslices for service/{} in \"{}\" have no addresses with port name \"{}\"", name,
            ns, *port)};
  return std::nullopt;
}

}  // namespace troupe::server
