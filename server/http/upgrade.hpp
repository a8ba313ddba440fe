// Requests that turn their connection over to another protocol (RFC 9110 7.8). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/http.hpp"

namespace troupe::server {

// The elements of a list in a header field, without blanks; empty ones are left out.
std::vector<std::string> split_list(std::string_view list);
// ASCII letters.
std::string lower(std::string_view text);

// To whatever protocol `upgrade` names.
bool is_upgrade(const request& request);
bool wants_websocket(const request& request);
// The subprotocols that the client of a WebSocket offers, in its order.
std::vector<std::string> offered_protocols(const header_block& headers);

}  // namespace troupe::server
