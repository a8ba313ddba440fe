// The constants of streams to clients and where they come from. "upstream" is Kubernetes 1.33's
// kubelet (pkg/cri/streaming).
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::server::defaults {

using namespace std::chrono_literals;

// Of a client's bytes so many are here and not yet passed on; more waits in its connection.
inline constexpr std::size_t stream_inflow_bytes = 256u << 10;
// upstream: DefaultStreamCreationTimeout, within which the client opens all streams of a command.
inline constexpr std::chrono::nanoseconds stream_creation = 30s;
// A client of a WebSocket that has not answered a ping by now is taken for one that reads: it may
// read only when its caller asks for what has come (python's kubernetes.stream).
inline constexpr std::chrono::nanoseconds stream_ping_answer = 1s;
// A client of SPDY closes the connection when it has read the end; kubectl does so at once. After
// this we do.
inline constexpr std::chrono::nanoseconds stream_linger = 10s;
// A command whose client has left may end by itself for so long. Upstream leaves it for ever.
inline constexpr std::chrono::nanoseconds stream_farewell = 30s;
// upstream: DefaultStreamIdleTimeout; a connection on which nothing comes or goes for this long, or
// up to twice that, is closed.
inline constexpr std::chrono::nanoseconds stream_idle = 4h;
// Streams of one connection: two for each connection that is forwarded.
inline constexpr std::size_t forwarded_connections = 256;
inline constexpr std::size_t spdy_streams = 2 * forwarded_connections;
// That a request may name, each with two channels of one byte.
inline constexpr std::size_t named_ports = 100;
// What a client says of the size of its terminal takes some 30 bytes.
inline constexpr std::size_t terminal_size_bytes = 256;

}  // namespace troupe::server::defaults
