// Error responses: a metav1.Status document in JSON, with Retry-After if the error has it. For the
// transport and auth_filter; the REST API, which knows the accepted media types, has its own
// functions.
#pragma once

#include <string>

#include "api/error.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

response status_response(const api::error& error);

// A transport error: code, reason and message.
response status_response(int code, std::string_view reason, std::string_view message);

// A plain text error, where upstream sends no Status.
response plain_error(int code, std::string text);

// The reason in a response of status_response(); empty for others.
std::string reason_of(const response& answer);

// The reason phrase of HTTP/1.1, e.g. "Not Found"; empty for unused codes.
std::string_view reason_phrase(int code) noexcept;

}  // namespace troupe::server
