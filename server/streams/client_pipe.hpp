// A bidirectional connection, from the side of the actor that serves it: a tunnel, or a WebSocket.
// Data from the client is sent to the actor as `client_bytes`, at most `stream_inflow_bytes` at a
// time: the rest waits at the client.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/actor_ref.hpp"
#include "server/connections/websocket.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

// -- to the actor ---------------------------------------------------------------------------------

// One message of a WebSocket; for a tunnel the bytes received, without message boundaries.
struct client_bytes {
  std::string bytes;
  bool binary = true;
};
// There is room again after write() returned false.
struct client_writable {};
// The client answered a ping(): it is reading.
struct client_reads {};
// The last message of the pipe.
struct client_closed {};

// A handle of the actor; destroying the last copy closes the connection.
class client_pipe {
 public:
  client_pipe() = default;

  // Each responds to the request: with 101, or with a refused handshake (the pipe is then not
  // open). `head`: further fields of the response besides `upgrade`.
  static client_pipe open_tunnel(const responder& answer, std::string_view protocol, response head,
                                 runtime::actor_ref to);
  static client_pipe open_websocket(const request& request, const responder& answer,
                                    const std::vector<std::string>& protocols,
                                    runtime::actor_ref to);

  // The subprotocol of a WebSocket.
  const std::string& protocol() const noexcept { return socket_.protocol(); }
  bool open() const noexcept { return socket_.open() || stream_.open(); }
  // Returns false if there is no room: wait for `client_writable`; the bytes were accepted.
  bool write(std::string bytes, bool binary = true) const;
  // For a WebSocket: the client's answer arrives as `client_reads`.
  void ping() const { socket_.ping(); }
  // The actor has processed this many received bytes.
  void consumed(std::size_t bytes) const;
  // Closes after all written bytes.
  void close() const;

 private:
  class inflow;
  stream stream_;
  websocket socket_;
  std::shared_ptr<inflow> inflow_;
};

}  // namespace troupe::server
