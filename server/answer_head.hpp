// What both protocols do alike with the head of a request and of an answer.
#pragma once

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http.hpp"

namespace troupe::server {

void append_number(std::string& text, std::uint64_t number);

// handler::admit; what it throws becomes a 500, and a compressed body a 415.
std::optional<response> admit(handler& target, request& head, std::shared_ptr<void>& permit);

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
