#include "server/connections/answer_head.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <exception>

#include "api/error.hpp"
#include "server/defaults.hpp"
#include "server/http/status.hpp"

namespace troupe::server {

void append_number(std::string& text, std::uint64_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text.append(digits.data(), end);
}

namespace {

// A proxy passes bodies on as they are.
bool reads_body(const request& head) {
  return head.info.subresource != "proxy" && head.info.verb != "proxy";
}

std::optional<response> admission(handler& target, request& head) {
  try {
    if (auto refused = target.admit(head)) return refused;
  } catch (const std::exception& e) {
    spdlog::error("server: admitting {} {} failed: {}", head.method_text, head.path, e.what());
    return status_response(500, "InternalError", "Internal error occurred: the request failed");
  }
  const auto coding = head.headers.get("content-encoding");
  if (coding.empty() || coding == "identity" || !reads_body(head)) return std::nullopt;
  return status_response(api::unsupported_media_type(coding, "identity"));
}

}  // namespace

std::optional<response> admit(connection& by, request& head) {
  auto refused = admission(by.target(), head);
  if (head.user) by.assign_to_user(*head.user);
  if (refused) by.refused(head, *refused);
  return refused;
}

std::optional<response> enter(connection& by, exchange& exchange) {
  std::shared_ptr<void> permit;
  auto refused = by.target().enter(exchange.request(), permit);
  if (refused) {
    by.refused(exchange.request(), *refused);
  } else {
    exchange.hold(std::move(permit));
  }
  return refused;
}

std::optional<response> charge_body(connection& by, exchange& exchange) {
  auto refused = charge_body(exchange.charge(), by.worker().counters().bodies, exchange.request(),
                             by.worker().options().bodies);
  if (refused) by.refused(exchange.request(), *refused);
  return refused;
}

bool body_is_slow(const http_options& options, std::chrono::nanoseconds age, std::size_t bytes) {
  const std::chrono::duration<double> needed{static_cast<double>(bytes) /
                                             defaults::body_bytes_per_second};
  return age > options.body_grace + needed;
}

std::chrono::milliseconds stall_limit(const http_options& options, const request& request) {
  const bool may_pause = request.long_running && !request.info.subresource.empty();
  return may_pause ? options.pause_timeout : options.stall_timeout;
}

response body_too_slow() {
  return status_response(408, "RequestTimeout", "the request did not come in time");
}

response body_too_large(std::size_t limit_bytes) {
  return status_response(api::request_too_large("Request entity", limit_bytes));
}

std::string to_text(std::uint64_t request_id) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; request_id >>= 4)
    text[i] = digits[request_id & 15];
  return text;
}

}  // namespace troupe::server
