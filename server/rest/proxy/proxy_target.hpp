// Which port of which pod a name in the path of a proxy means: NAME, NAME:PORT,
// https:NAME:PORT, where PORT may be empty ("https:NAME" would be a port of "https").
//
// kubernetes: pkg/registry/core/pod/strategy.go and core/service/storage/rest.go, ResourceLocation,
// for the rules and the words.
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
// Nothing for text of another form. Pure.
std::optional<proxy_name> parse_proxy_name(std::string_view text);

// What stands behind a port of a service, as its slices have it.
struct service_endpoint {
  std::string pod, uid;  // empty: no pod
  std::string address;
  int port = 0;
};
// Those that are ready, at the port of that name.
std::vector<service_endpoint> ready_endpoints(const persistence::snapshot& state,
                                              std::string_view ns, const std::string& service,
                                              const std::string& port);

// "10.0.0.1:80", "[fd00::1]:80".
std::string host_and_port(const std::string& address, int port);
// The port of a pod, opened through `source`.
proxy_target pod_port(std::shared_ptr<actors::stream_source> source, const service_endpoint& pod);

// 400 for a name or port of another form, 404 for none of that name, 503 where nothing is behind
// it.
api::expected<proxy_target> pod_target(const call& call);
// A ready pod behind the service, another one for each request.
api::expected<proxy_target> service_target(const call& call);

}  // namespace troupe::server
