// Functions shared by both protocols for the heads of requests and responses.
#pragma once

#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/connections/connection.hpp"
#include "server/connections/exchange.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

void append_number(std::string& text, std::uint64_t number);

// Calls handler::admit; an exception becomes a 500, and a compressed body a 415, unless it is for a
// proxy. Tells the connection the user, and reports a refusal.
std::optional<response> admit(connection& by, request& head);
// Calls handler::enter for a complete request; the exchange owns the permit.
std::optional<response> enter(connection& by, exchange& exchange);

// Called as the body is received: returns a refusal if the request may hold no more bytes.
std::optional<response> charge_body(connection& by, exchange& exchange);
// Whether the body is too slow: so few bytes at this time after the head.
bool body_is_slow(const http_options& options, std::chrono::nanoseconds age, std::size_t bytes);
response body_too_slow();
// How long the client may read nothing of the response while data waits for it.
std::chrono::milliseconds stall_limit(const http_options& options, const request& request);
response body_too_large(std::size_t limit_bytes);

// 16 hexadecimal digits, as in the Audit-Id header and the log.
std::string to_text(std::uint64_t request_id);

// Calls `visit(name, value)` for each header field of a response except those about its length and
// the connection. Names are in lower case.
template <class F>
void each_field(const response& head, std::uint64_t request_id, std::string_view date, F visit) {
  visit("audit-id", to_text(request_id));
  bool cached = false;
  for (const auto& field : head.fields) {
    visit(field.name, field.value);
    cached = cached || field.name == "cache-control";
  }
  if (!cached) visit("cache-control", "no-cache, private");
  if (!head.content_type.empty()) visit("content-type", head.content_type);
  visit("date", date);
}

}  // namespace troupe::server
