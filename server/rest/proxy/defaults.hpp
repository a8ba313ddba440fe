// The constants of proxies and where they come from. "upstream" is Kubernetes 1.33's API server,
// "Go" the net/http client in it.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::server::defaults {

using namespace std::chrono_literals;

// Go: the dialer's time-out, and that of a TLS handshake, together.
inline constexpr std::chrono::nanoseconds proxy_connect = 40s;
// How soon a client is missed who leaves while its answer is awaited.
inline constexpr std::chrono::nanoseconds proxy_gone_look = 1s;
// Given to the port at once.
inline constexpr std::size_t proxy_piece_bytes = 64u << 10;
// Names of backends that are being looked up, or wait for that.
inline constexpr std::size_t waiting_lookups = 64;
// Go: max1xxResponses.
inline constexpr int interim_answers = 5;

}  // namespace troupe::server::defaults
