// The bearer token of a WebSocket client that cannot set header fields (a browser). It is sent as a
// subprotocol: "base64url.bearer.authorization.k8s.io." and the token in base64url without padding
// (kubernetes: apiserver/pkg/authentication/request/websocket). Pure.
#pragma once

#include <string>

#include "api/error.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

// Empty if there is none. 401 for two tokens, for invalid base64url, and for a token without
// another subprotocol that the server could select.
api::expected<std::string> socket_token(const request& head);

// Removes the token from the offered subprotocols, so that later code cannot select, log or forward
// it.
void hide_socket_token(header_block& headers);

}  // namespace troupe::server
