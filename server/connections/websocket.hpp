// A WebSocket on a connection that was HTTP/1.1. A handle: copies refer to the same socket, which
// is closed when the last one is destroyed. Thread safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/http.hpp"

namespace troupe::server {

// Called on the connection's I/O thread; must not block. Pings are answered automatically.
struct websocket_events {
  // Return false to pause until resume(); messages already received are still delivered.
  std::function<bool(std::string payload, bool binary)> message;
  // Called when there is room again after send() returned false.
  std::function<void()> writable;
  // The client answered a ping().
  std::function<void()> ponged;
  // Called once, whichever side closed.
  std::function<void()> closed;
};

class websocket {
 public:
  websocket() = default;

  // Whether the request asks for a WebSocket.
  static bool wanted(const request& request);
  // Responds with the handshake, or with a 400 that names the missing part (the handle is
  // then not open). Selects the first of `protocols`, in our order of preference, that the
  // client offers; none if it offers none. A client that offers only other protocols is
  // refused.
  static websocket accept(const request& request, const responder& answer,
                          const std::vector<std::string>& protocols, websocket_events events);

  // The selected subprotocol; empty for none.
  const std::string& protocol() const noexcept;
  // See stream::write.
  bool send(shared_text payload, bool binary) const;
  bool send(std::string payload, bool binary) const;
  // `owner` keeps the payload alive.
  bool send(std::string_view payload, shared_text owner, bool binary) const;
  // `ponged` is called after the client has read it.
  void ping() const;
  // Resumes calls of `message`.
  void resume() const;
  void close(std::uint16_t code = 1000, std::string_view reason = {}) const;
  bool open() const noexcept;

 private:
  class session;
  class duty;
  std::shared_ptr<duty> duty_;
};

}  // namespace troupe::server
