// The HTTP server: listening sockets, TLS, HTTP/1.1 and HTTP/2, on its own I/O threads.
//
// Owns its threads and all connections; a connection belongs to one thread for its whole life.
// Untrusted peers cannot make it fail or grow: malformed, slow or too large requests, and too many
// of them, result in an error response or a closed connection; memory per connection is bounded.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "server/defaults.hpp"
#include "server/flow_control/body_budget.hpp"
#include "server/fwd.hpp"
#include "server/http/endpoint.hpp"

namespace troupe::server {

class tls_identity;
struct refusal;

struct http_options {
  std::size_t io_threads = defaults::io_threads;
  std::size_t connections = defaults::connections;
  // For unauthenticated connections from one address.
  std::size_t unauthenticated_per_address = defaults::unauthenticated_per_address;
  std::size_t body_limit_bytes = defaults::body_limit_bytes;
  std::size_t header_limit_bytes = defaults::header_limit_bytes;
  std::size_t stream_buffer_bytes = defaults::stream_buffer_bytes;
  std::size_t streams_bytes = defaults::streams_bytes;
  std::chrono::milliseconds handshake_timeout = defaults::handshake_timeout;
  std::chrono::milliseconds header_timeout = defaults::header_timeout;
  std::chrono::milliseconds request_timeout = defaults::request_timeout;
  std::chrono::milliseconds idle_timeout = defaults::idle_timeout;
  std::chrono::milliseconds stall_timeout = defaults::stall_timeout;
  std::chrono::milliseconds pause_timeout = defaults::pause_timeout;
  std::chrono::milliseconds drain_timeout = defaults::drain_timeout;
  std::chrono::milliseconds body_grace = defaults::body_grace;
  // Each limit is raised to a few bodies of the largest size.
  body_limits bodies{defaults::bodies_bytes, defaults::user_bodies_bytes,
                     defaults::address_bodies_bytes};
  // Called for refusals here or by handler::admit() and enter(), on an I/O thread; for metrics.
  std::function<void(const refusal&)> observe_refusal = {};
};

// Counted since the start; `now_` figures are current values.
struct http_stats {
  std::uint64_t now_connections = 0;
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;       // over the limit of connections
  std::uint64_t shed = 0;          // unauthenticated ones, closed to make room
  std::uint64_t body_bytes = 0;    // currently held, of bodies received in several pieces
  std::uint64_t stream_bytes = 0;  // currently waiting in streams for clients to read
  std::uint64_t failed_handshakes = 0;
  std::uint64_t requests = 0;
  std::uint64_t timed_out = 0;        // connections closed by one of the time-outs
  std::uint64_t overrun_streams = 0;  // streams cut off because their reader was slow
};

class http_server {
 public:
  // Starts the threads; raises the soft limit of open files to the hard limit.
  explicit http_server(http_options options);
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;
  // Calls stop().
  ~http_server();

  // Serves `target` at the endpoint; with TLS if `identity` is given (its certificates may be
  // replaced at any time; new connections use the new ones). Returns the endpoint with the actual
  // port, or a one-line error: port in use, no such address, not permitted. `target` and `identity`
  // must outlive the server.
  tl::expected<endpoint, std::string> listen(const endpoint& endpoint, handler& target,
                                             const tls_identity* identity = nullptr);

  // Serves `target` at a Unix socket (local_socket.hpp), which is removed with the server.
  tl::expected<void, std::string> listen_locally(const std::filesystem::path& file,
                                                 handler& target);

  // Stops accepting, notifies the clients, closes streams, waits at most `drain_timeout` for
  // pending responses, closes all connections and ends the threads. Idempotent.
  void stop();

  http_stats stats() const;

  // Writes a refusal by another listener of this node into the audit log, with the limits of this
  // server's refusals. Any thread; not after the server is destroyed.
  void note_refusal(const refusal& refusal);

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::server
