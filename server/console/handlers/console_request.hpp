// Parses console requests over HTTP, and writes the responses: for the control plane and for joined
// machines.
#pragma once

#include <optional>
#include <string_view>

#include "server/console/context/remote.hpp"
#include "server/console/handlers/control.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

inline constexpr std::string_view console_api_prefix = "/console/api/";

bool is_console_path(std::string_view path) noexcept;
bool is_trace(std::string_view path) noexcept;

// The path after the prefix.
std::string_view view_name(const request& request);
control_requester requester_of(const request& request);
console_question question_of(const request& request);
// GET reads; POST changes state, and needs the header x-troupe-control, which a foreign web page
// cannot send. Returns the refusal of any other request.
std::optional<response> refuse(const request& request);

response to_response(console_answer from, const query_string& query);
response no_such_path(std::string_view path);

}  // namespace troupe::server
