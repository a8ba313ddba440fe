// A WebSocket on a connection that was HTTP/1.1. A handle: copies mean the same socket, and when
// the last one is dropped it is closed. Thread safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/http.hpp"

namespace troupe::server {

// Called on the connection's I/O thread; must not block. Pings are answered unseen.
struct websocket_events {
  // False: no more until resume(), but for what has come already.
  std::function<bool(std::string payload, bool binary)> message;
  // send() said false and there is room again.
  std::function<void()> writable;
  // The client answered a ping().
  std::function<void()> ponged;
  // Once, whoever closed.
  std::function<void()> closed;
};

class websocket {
 public:
  websocket() = default;

  // Whether the client asks for one.
  static bool wanted(const request& request);
  // Answers the request: with the handshake, or with a 400 that says what is missing (then the
  // handle is not open). Of `protocols`, in the order of our preference, the first that the client
  // offers is chosen; none is chosen when it offers none, and a client that offers only others is
  // refused.
  static websocket accept(const request& request, const responder& answer,
                          const std::vector<std::string>& protocols, websocket_events events);

  // The subprotocol in use; empty for none.
  const std::string& protocol() const noexcept;
  // As stream::write.
  bool send(shared_text payload, bool binary) const;
  bool send(std::string payload, bool binary) const;
  // `owner` keeps the payload.
  bool send(std::string_view payload, shared_text owner, bool binary) const;
  // `ponged` is called when the client has read it.
  void ping() const;
  // `message` may be called again.
  void resume() const;
  void close(std::uint16_t code = 1000, std::string_view reason = {}) const;
  bool open() const noexcept;

 private:
  class session;
  class duty;
  std::shared_ptr<duty> duty_;
};

}  // namespace troupe::server
