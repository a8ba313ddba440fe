#include "server/connections/websocket_frames.hpp"

#include <algorithm>

#include "api/values/utf8.hpp"

namespace troupe::server {
namespace {

constexpr std::uint8_t last_bit = 0x80;
constexpr std::uint8_t reserved_bits = 0x70;
constexpr std::uint8_t mask_bit = 0x80;
constexpr std::size_t short_limit = 125;
constexpr std::uint8_t two_bytes_follow = 126;
constexpr std::uint8_t eight_bytes_follow = 127;

bool is_control(websocket_opcode opcode) {
  return static_cast<int>(opcode) >= 8;
}

bool is_known(std::uint8_t opcode) {
  return opcode <= 2 || (opcode >= 8 && opcode <= 10);
}

void append_big_endian(std::string& to, std::uint64_t number, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8)
    to.push_back(static_cast<char>(number >> shift));
}

std::uint64_t read_big_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char c : bytes)
    number = number << 8 | static_cast<std::uint8_t>(c);
  return number;
}

}  // namespace

std::string websocket_head(websocket_opcode opcode, std::size_t payload_bytes) {
  std::string text(1, static_cast<char>(last_bit | static_cast<std::uint8_t>(opcode)));
  if (payload_bytes <= short_limit) {
    append_big_endian(text, payload_bytes, 1);
  } else if (payload_bytes <= UINT16_MAX) {
    append_big_endian(text, two_bytes_follow, 1);
    append_big_endian(text, payload_bytes, 2);
  } else {
    append_big_endian(text, eight_bytes_follow, 1);
    append_big_endian(text, payload_bytes, 8);
  }
  return text;
}

std::string websocket_close_payload(std::uint16_t code, std::string_view reason) {
  std::string payload;
  append_big_endian(payload, code, 2);
  payload += reason.substr(0, api::utf8_prefix(reason, short_limit - 2));
  return payload;
}

std::optional<std::uint16_t> websocket_reader::feed(std::string_view bytes,
                                                    const receiver& receive) {
  unread_ += bytes;
  for (;;) {
    head next;
    if (const auto wrong = read_head(next)) return wrong;
    if (next.bytes == 0 || unread_.size() < next.bytes + next.size) return std::nullopt;
    auto payload = unread_.substr(next.bytes, static_cast<std::size_t>(next.size));
    for (std::size_t i = 0; i < payload.size(); ++i)
      payload[i] ^= next.mask[i % 4];
    unread_.erase(0, next.bytes + static_cast<std::size_t>(next.size));
    finish(next, std::move(payload), receive);
  }
}

// `found.bytes` stays 0 until the head is complete.
std::optional<std::uint16_t> websocket_reader::read_head(head& found) const {
  if (unread_.size() < 2) return std::nullopt;
  const auto first = static_cast<std::uint8_t>(unread_[0]);
  const auto second = static_cast<std::uint8_t>(unread_[1]);
  const auto opcode = static_cast<std::uint8_t>(first & 0x0f);
  // Clients mask all frames (RFC 6455 5.1).
  if ((first & reserved_bits) != 0 || !is_known(opcode) || (second & mask_bit) == 0)
    return websocket_code::protocol_error;
  found.last = (first & last_bit) != 0;
  found.opcode = static_cast<websocket_opcode>(opcode);
  found.size = second & ~mask_bit;
  std::size_t extra = 0;
  if (found.size == two_bytes_follow) extra = 2;
  if (found.size == eight_bytes_follow) extra = 8;
  if (unread_.size() < 2 + extra + sizeof found.mask) return std::nullopt;
  const std::string_view view = unread_;
  if (extra > 0) found.size = read_big_endian(view.substr(2, extra));
  std::copy_n(view.begin() + 2 + static_cast<std::ptrdiff_t>(extra), sizeof found.mask, found.mask);
  if (const auto wrong = check(found)) return wrong;
  found.bytes = 2 + extra + sizeof found.mask;
  return std::nullopt;
}

std::optional<std::uint16_t> websocket_reader::check(const head& found) const {
  if (is_control(found.opcode)) {
    if (!found.last || found.size > short_limit) return websocket_code::protocol_error;
    return std::nullopt;
  }
  const bool continues = found.opcode == websocket_opcode::continuation;
  if (continues != fragmented_.has_value()) return websocket_code::protocol_error;
  if (found.size > limit_ || message_.size() + found.size > limit_) return websocket_code::too_big;
  return std::nullopt;
}

void websocket_reader::finish(const head& found, std::string payload, const receiver& receive) {
  if (is_control(found.opcode)) return receive(found.opcode, std::move(payload));
  if (found.opcode != websocket_opcode::continuation) fragmented_ = found.opcode;
  message_ += payload;
  if (!found.last) return;
  const auto frame_opcode = *fragmented_;
  fragmented_.reset();
  receive(frame_opcode, std::move(message_));
  message_.clear();
}

}  // namespace troupe::server
