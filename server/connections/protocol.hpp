// The protocol of a connection after the TLS handshake: HTTP/1.1 or HTTP/2. Belongs to the
// connection's thread. It writes to the transport; the connection flushes and closes it.
#pragma once

#include <chrono>
#include <string_view>

namespace troupe::server {

class protocol {
 public:
  virtual ~protocol() = default;

  // Consumes all bytes. Called only while wants_input().
  virtual void on_input(std::string_view bytes) = 0;
  virtual bool wants_input() const = 0;
  // The peer has sent its last byte, and all bytes have been read.
  virtual void on_end() = 0;
  // The peer has sent its last byte; some bytes may be unread.
  virtual void on_peer_closing() = 0;
  // The transport was blocked and accepts data again.
  virtual void on_room() = 0;
  virtual void on_tick() = 0;
  // Accept no new requests; finish soon.
  virtual void drain() = 0;
  // A complete request waits for the rest of its response.
  virtual bool answering() const = 0;
  // How long the peer may read nothing while data waits for it.
  virtual std::chrono::milliseconds stall_limit() const = 0;
  // All output has been written: the connection may be closed once the transport is not blocked.
  virtual bool finished() const = 0;
};

}  // namespace troupe::server
