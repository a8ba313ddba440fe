// Shared by both protocols: the work on the head of a request and of an answer.
#pragma once

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/connections/connection.hpp"
#include "server/connections/exchange.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

void append_number(std::string& text, std::uint64_t number);

// handler::admit; what it throws becomes a 500, and a compressed body a 415. The connection learns
// who asks, and of a refusal.
std::optional<response> admit(connection& by, request& head);
// handler::enter for a request that has come whole; the exchange holds the permit.
std::optional<response> enter(connection& by, exchange& exchange);

// While a body comes: a refusal when the request may hold no more bytes.
std::optional<response> hold_body(connection& by, exchange& exchange);
// Whether so much of a body is too little, so long after the head.
bool body_is_slow(const http_options& options, std::chrono::nanoseconds age, std::size_t bytes);
response body_too_slow();
response body_too_large(std::size_t limit_bytes);

// 16 hexadecimal digits, as in the Audit-Id header and the log.
std::string to_text(std::uint64_t request_id);

// Calls `visit(name, value)` for each field of an answer but those about its length and the
// connection. Names are in lower case.
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
