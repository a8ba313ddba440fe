// Errors as clients of Kubernetes understand them: a metav1.Status document in JSON, with
// Retry-After where the error says so. For answers of the transport and auth_filter; the REST API,
// which knows what the client accepts, may say the same in other forms.
#pragma once

#include <string>

#include "api/error.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

response status_response(const api::error& error);

// An error of the transport: code, reason and message.
response status_response(int code, std::string_view reason, std::string_view message);

// An error as a text, where upstream has no Status.
response plain_error(int code, std::string text);

// The reason in an answer of status_response(); empty in others.
std::string reason_of(const response& answer);

// The reason phrase of HTTP/1.1, e.g. "Not Found"; empty for codes that we never send.
std::string_view reason_phrase(int code) noexcept;

}  // namespace troupe::server
