#include "server/answer_head.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <exception>

#include "api/error.hpp"
#include "server/status.hpp"

namespace troupe::server {

void append_number(std::string& text, std::uint64_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text.append(digits.data(), end);
}

std::optional<response> admit(handler& target, request& head, std::shared_ptr<void>& permit) {
  const auto coding = head.headers.get("content-encoding");
  if (!coding.empty() && coding != "identity")
    return status_response(api::unsupported_media_type(coding, "identity"));
  try {
    return target.admit(head, permit);
  } catch (const std::exception& e) {
    spdlog::error("server: admitting {} {} failed: {}", head.method_text, head.path, e.what());
    return status_response(500, "InternalError", "Internal error occurred: the request failed");
  }
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
