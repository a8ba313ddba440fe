// The changes of a proxy to a request on its way to a pod, and to the answer. Pure.
//
// kubernetes: apimachinery/pkg/util/proxy (upgradeaware.go, transport.go) and Go's
// httputil.ReverseProxy, for the rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/http.hpp"
#include "server/rest/proxy/response_parser.hpp"

namespace troupe::server {

// The part of the path from `/proxy` on that is the pod's, not decoded any more: "", "/", "/a b".
// The request is about a part of an object.
std::string_view path_behind(const request& request);

// A path as it stands in a request target (Go: URL.EscapedPath).
std::string escape_path(std::string_view path);

using header_fields = std::vector<std::pair<std::string, std::string>>;

// Who asks, as the servers of aggregated APIs read it: x-remote-user and its like.
struct front_fields {
  std::string host;
  header_fields fields;
};

// The request line and the fields, without the body. Fields of one connection, credentials and
// impersonation stay here. With `front` whatever a client sends of that kind stays here too.
std::string backend_request_head(const request& request, std::string_view path,
                                 const front_fields* front = nullptr);

// A user as front_fields::fields. Empty where a name of it could end a field
// (kubernetes: client-go/transport, SetAuthProxyHeaders).
std::optional<header_fields> front_fields_of(const user_info& user);

// Where the client finds what the pod names by `location`: below `prefix`, the path of the proxy,
// when that is on this pod, else as it was. `backend` and `client` are the hosts that mean the pod:
// its own, and the one that the client called.
std::string rewrite_location(std::string_view location, std::string_view prefix,
                             std::string_view backend, std::string_view client);

// The head that the client gets: fields of the connection are left out, those of CORS too.
// `location` is rewritten as above.
response client_head(const backend_head& from, const request& request, std::string_view path,
                     std::string_view backend);

}  // namespace troupe::server
