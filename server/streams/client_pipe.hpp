// A connection that carries bytes or messages both ways, from the side of the actor that serves it:
// a tunnel, or a WebSocket. What the client sends comes to the actor as `client_bytes`, as much as
// `stream_inflow_bytes` at a time: more waits at the client.
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

// One message of a WebSocket; of a tunnel what has come, wherever it is cut.
struct client_bytes {
  std::string bytes;
  bool binary = true;
};
// write() said false and there is room again.
struct client_writable {};
// It answered a ping(): it reads.
struct client_reads {};
// Nothing comes after it.
struct client_closed {};

// A handle of the actor; dropping the last copy closes the connection.
class client_pipe {
 public:
  client_pipe() = default;

  // Each answers the request: with 101, or with the refusal of a handshake (then it is not open).
  // `head`: the fields of the answer besides `upgrade`.
  static client_pipe open_tunnel(const responder& answer, std::string_view protocol, response head,
                                 runtime::actor_ref to);
  static client_pipe open_websocket(const request& request, const responder& answer,
                                    const std::vector<std::string>& protocols,
                                    runtime::actor_ref to);

  // The subprotocol of a WebSocket.
  const std::string& protocol() const noexcept { return socket_.protocol(); }
  bool open() const noexcept { return socket_.open() || stream_.open(); }
  // False: no room, wait for `client_writable`; it was taken nevertheless.
  bool write(std::string bytes, bool binary = true) const;
  // Of a WebSocket: the client's answer comes as `client_reads`.
  void ping() const { socket_.ping(); }
  // The actor is done with so many bytes of what came.
  void consumed(std::size_t bytes) const;
  // After all that was written.
  void close() const;

 private:
  class inflow;
  stream stream_;
  websocket socket_;
  std::shared_ptr<inflow> inflow_;
};

}  // namespace troupe::server
