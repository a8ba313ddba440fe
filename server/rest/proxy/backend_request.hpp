// The changes that a proxy makes to a request for a pod, and to its response. Pure.
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

// The pod's part of the path, after `/proxy`, decoded once: "", "/", "/a b". The request must be
// about a subresource.
std::string_view remaining_path(const request& request);

// Escapes a path for a request target (Go: URL.EscapedPath).
std::string escape_path(std::string_view path);

using header_fields = std::vector<std::pair<std::string, std::string>>;

// The user for servers of aggregated APIs: x-remote-user and similar headers.
struct front_fields {
  std::string host;
  header_fields fields;
};

// The request line and the header fields, without the body. Hop-by-hop fields, credentials and
// impersonation are removed. With `front`, the client's fields of that kind are removed too.
std::string backend_request_head(const request& request, std::string_view path,
                                 const front_fields* front = nullptr);

// The user as front_fields::fields. Nullopt if a name could break the header (kubernetes:
// client-go/transport, SetAuthProxyHeaders).
std::optional<header_fields> front_fields_of(const user_info& user);

// Rewrites a `location` of the pod for the client: below `prefix`, the path of the proxy, if it is
// on this pod, else unchanged. `backend` and `client` are the hosts of the pod: its own, and the
// one that the client called.
std::string rewrite_location(std::string_view location, std::string_view prefix,
                             std::string_view backend, std::string_view client);

// The head for the client: without hop-by-hop fields and CORS fields. `location` is rewritten as
// above.
response client_head(const backend_head& from, const request& request, std::string_view path,
                     std::string_view backend);

}  // namespace troupe::server
