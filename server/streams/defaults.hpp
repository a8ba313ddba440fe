// The constants of streams to clients and their sources. "upstream" is Kubernetes 1.33's kubelet
// (pkg/cri/streaming).
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::server::defaults {

using namespace std::chrono_literals;

// Received bytes not yet processed by the actor; more wait in the connection.
inline constexpr std::size_t stream_inflow_bytes = 256u << 10;
// upstream: DefaultStreamCreationTimeout, for the client to open all streams of a
// command.
inline constexpr std::chrono::nanoseconds stream_creation = 30s;
// A WebSocket client without an answer to a ping by now is assumed to read: it may read only when
// its caller asks for data (python's kubernetes.stream).
inline constexpr std::chrono::nanoseconds stream_ping_answer = 1s;
// A SPDY client closes the connection when it has read the end; kubectl does so at once. After this
// time the server closes it.
inline constexpr std::chrono::nanoseconds stream_linger = 10s;
// How long a command may continue after its client has left. Upstream has no limit.
inline constexpr std::chrono::nanoseconds stream_farewell = 30s;
// upstream: DefaultStreamIdleTimeout; a connection without traffic for this long, up to twice that,
// is closed.
inline constexpr std::chrono::nanoseconds stream_idle = 4h;
// Streams of one connection: two for each forwarded connection.
inline constexpr std::size_t forwarded_connections = 256;
inline constexpr std::size_t spdy_streams = 2 * forwarded_connections;
// Ports in one request; each has two channels, numbered by one byte.
inline constexpr std::size_t named_ports = 100;
// A terminal size message takes some 30 bytes.
inline constexpr std::size_t terminal_size_bytes = 256;

}  // namespace troupe::server::defaults
