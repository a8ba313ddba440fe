// Reads and writes the frames of WebSocket (RFC 6455). Pure. Input is untrusted: messages are
// bounded, and a protocol error returns the close code.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::server {

enum class websocket_opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

namespace websocket_code {
inline constexpr std::uint16_t normal = 1000;
inline constexpr std::uint16_t going_away = 1001;
inline constexpr std::uint16_t protocol_error = 1002;
inline constexpr std::uint16_t too_big = 1009;
}  // namespace websocket_code

// The head of an unmasked, unfragmented frame, as servers send them; the payload follows.
std::string websocket_head(websocket_opcode opcode, std::size_t payload_bytes);
// The payload of a close frame. A reason that is too long is cut between characters: clients end a
// connection with an error when it is not UTF-8.
std::string websocket_close_payload(std::uint16_t code, std::string_view reason);

// Assembles a client's frames to messages.
class websocket_reader {
 public:
  // Whole text or binary messages; payloads of close, ping and pong.
  using receiver = std::function<void(websocket_opcode opcode, std::string payload)>;

  explicit websocket_reader(std::size_t message_limit_bytes) : limit_{message_limit_bytes} {}

  // Consumes all bytes. Returns the close code on a protocol error; no more is read then.
  std::optional<std::uint16_t> feed(std::string_view bytes, const receiver& receive);

 private:
  struct head {
    bool last = false;
    websocket_opcode opcode = websocket_opcode::continuation;
    std::uint64_t size = 0;
    char mask[4] = {};
    std::size_t bytes = 0;  // size of the head itself
  };
  std::optional<std::uint16_t> read_head(head& found) const;
  std::optional<std::uint16_t> check(const head& found) const;
  void finish(const head& found, std::string payload, const receiver& receive);

  const std::size_t limit_;
  std::string unread_;
  std::string message_;  // fragments received so far
  std::optional<websocket_opcode> fragmented_;
};

}  // namespace troupe::server
