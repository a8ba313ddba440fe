// Resolves the name in a proxy path to a port of a pod: NAME, NAME:PORT, https:NAME:PORT, where
// PORT may be empty ("https:NAME" would be a port of "https").
//
// kubernetes: pkg/registry/core/pod/strategy.go and core/service/storage/rest.go, ResourceLocation,
// for the rules and messages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"
#include "persistence/tree/snapshot.hpp"
#include "server/rest/calls/call.hpp"
#include "server/rest/proxy/backend_connection.hpp"

namespace troupe::server {

struct proxy_name {
  bool tls = false;
  std::string name;
  std::string port;  // empty: not given
};
// Nullopt for invalid text. Pure.
std::optional<proxy_name> parse_proxy_name(std::string_view text);

// An endpoint of a service's port, from its EndpointSlices.
struct service_endpoint {
  std::string pod, uid;  // empty: not a pod
  std::string address;
  int port = 0;
};
// The ready endpoints at the port of that name.
std::vector<service_endpoint> ready_endpoints(const persistence::snapshot& state,
                                              std::string_view ns, const std::string& service,
                                              const std::string& port);

// "10.0.0.1:80", "[fd00::1]:80".
std::string host_and_port(const std::string& address, int port);
// The port of a pod, opened through `source`.
proxy_target pod_port(std::shared_ptr<actors::stream_source> source, const service_endpoint& pod);

// 400 for an invalid name or port, 404 for an unknown one, 503 if there is no
// endpoint.
api::expected<proxy_target> pod_target(const call& call);
// A ready pod of the service, a different one for each request.
api::expected<proxy_target> service_target(const call& call);

}  // namespace troupe::server
