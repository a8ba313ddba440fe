// The protocol of a connection after the TLS handshake: HTTP/1.1 or HTTP/2. Belongs to the
// connection's thread. Writes to the wire at will; the connection flushes and closes.
#pragma once

#include <string_view>

namespace troupe::server {

class protocol {
 public:
  virtual ~protocol() = default;

  // Takes all of it. Called only while wants_input().
  virtual void on_input(std::string_view bytes) = 0;
  virtual bool wants_input() const = 0;
  // The peer has sent its last byte, and all of it has been read.
  virtual void on_end() = 0;
  // The peer has sent its last byte; some may be unread.
  virtual void on_peer_closing() = 0;
  // The wire was blocked and is no more.
  virtual void on_room() = 0;
  virtual void on_tick() = 0;
  // No new requests; finish soon.
  virtual void drain() = 0;
  // A request has come whole and waits for the rest of its answer.
  virtual bool answering() const = 0;
  // All is written that ever will be: the connection may be closed when the wire is not blocked.
  virtual bool finished() const = 0;
};

}  // namespace troupe::server
