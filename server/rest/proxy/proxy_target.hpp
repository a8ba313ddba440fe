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

#include "api/error.hpp"
#include "server/rest/calls/call.hpp"

namespace troupe::actors {
class stream_source;
}

namespace troupe::server {

struct proxy_name {
  bool tls = false;
  std::string name;
  std::string port;  // empty: not given
};
// Nothing for text of another form. Pure.
std::optional<proxy_name> parse_proxy_name(std::string_view text);

struct proxy_target {
  std::shared_ptr<actors::stream_source> source;
  std::string pod_uid;
  int port = 0;
  bool tls = false;
  std::string host;  // what the pod itself would call it: "10.0.0.1:80"
};
// 400 for a name or port of another form, 404 for none of that name, 503 where nothing is behind
// it.
api::expected<proxy_target> pod_target(const call& call);
// A ready pod behind the service, another one for each request.
api::expected<proxy_target> service_target(const call& call);

}  // namespace troupe::server
