// The bearer token of a WebSocket whose client can set no header fields: browsers. It comes as one
// of the subprotocols: "base64url.bearer.authorization.k8s.io." and the token in base64url without
// padding (kubernetes: apiserver/pkg/authentication/request/websocket). Pure.
#pragma once

#include <string>

#include "api/error.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

// Empty: there is none. 401 for two of them, for one that is no base64url, and for one that comes
// without another subprotocol, which could be chosen.
api::expected<std::string> socket_token(const request& head);

// Takes it off the subprotocols that are offered: nobody behind may choose it, log it or pass it
// on.
void hide_socket_token(header_block& headers);

}  // namespace troupe::server
