// The client's side of port forwarding (kubernetes: kubelet/pkg/cri/streaming/portforward): many
// connections over one. Belongs to one actor.
//
// SPDY/3.1, also inside WebSocket messages: a data stream and an error stream for each connection.
// WebSocket with channels: one connection for each port in the request.
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

// Events from the client. Connections have numbers that are not reused.
struct port_events {
  std::function<void(std::uint32_t connection, int port)> opened;
  std::function<void(std::uint32_t connection, std::string_view bytes)> data;
  // The client has closed its sending side.
  std::function<void(std::uint32_t connection)> ended;
  // The client has closed the connection.
  std::function<void(std::uint32_t connection)> closed;
};

class port_client {
 public:
  virtual ~port_client() = default;

  const client_pipe& pipe() const noexcept { return pipe_; }
  // Reports the connections that exist from the start.
  virtual void start(const port_events& events) = 0;
  // After an error the connection must be closed.
  virtual std::optional<std::string> take(const client_bytes& m, const port_events& events) = 0;
  // Returns false if there is no room: wait for `client_writable`.
  virtual bool write(std::uint32_t connection, std::string_view bytes) = 0;
  // The port's side has ended; `problem` is the reason, empty for a regular end.
  virtual void end(std::uint32_t connection, std::string_view problem) = 0;

 protected:
  explicit port_client(client_pipe pipe) : pipe_{std::move(pipe)} {}
  const client_pipe pipe_;
};

// Responds with 101, or refuses the request and returns null. `ports`: from the request; SPDY
// clients name none.
std::unique_ptr<port_client> accept_ports(const request& request, const responder& answer,
                                          const std::vector<int>& ports, runtime::actor_ref to);

}  // namespace troupe::server
