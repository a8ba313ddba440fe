// Requests that upgrade the connection to another protocol (RFC 9110 7.8). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/http.hpp"

namespace troupe::server {

// The elements of a comma-separated header field, trimmed; empty ones are skipped.
std::vector<std::string> split_list(std::string_view list);

// True for any protocol in `upgrade`.
bool is_upgrade(const request& request);
bool wants_websocket(const request& request);
// The subprotocols that a WebSocket client offers, in its order.
std::vector<std::string> offered_protocols(const header_block& headers);

}  // namespace troupe::server
