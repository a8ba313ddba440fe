// The client's side of forwarded ports (kubernetes: kubelet/pkg/cri/streaming/portforward): many
// connections over one. Belongs to one actor.
//
// SPDY/3.1, also as the messages of a WebSocket: a pair of streams, of data and of the error, for
// each connection. WebSocket with channels: one connection for each port that the request names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/actor_ref.hpp"
#include "server/http/http.hpp"
#include "server/streams/client_pipe.hpp"

namespace troupe::server {

// The messages of the client. Connections have numbers that are used once.
struct port_events {
  std::function<void(std::uint32_t connection, int port)> opened;
  std::function<void(std::uint32_t connection, std::string_view bytes)> data;
  // The client sends no more.
  std::function<void(std::uint32_t connection)> ended;
  // The client wants nothing of it any more.
  std::function<void(std::uint32_t connection)> closed;
};

class port_client {
 public:
  virtual ~port_client() = default;

  const client_pipe& pipe() const noexcept { return pipe_; }
  // Says which connections there are from the beginning.
  virtual void start(const port_events& events) = 0;
  // Says what is wrong: then the connection is of no use any more.
  virtual std::optional<std::string> take(const client_bytes& m, const port_events& events) = 0;
  // False: no room, wait for `client_writable`.
  virtual bool write(std::uint32_t connection, std::string_view bytes) = 0;
  // Nothing more comes from the port; `problem` says why where it is not its end.
  virtual void end(std::uint32_t connection, std::string_view problem) = 0;

 protected:
  explicit port_client(client_pipe pipe) : pipe_{std::move(pipe)} {}
  const client_pipe pipe_;
};

// Answers the request with 101, or refuses it and is null. `ports` as the request names them, which
// clients of SPDY do not.
std::unique_ptr<port_client> accept_ports(const request& request, const responder& answer,
                                          const std::vector<int>& ports, runtime::actor_ref to);

}  // namespace troupe::server
