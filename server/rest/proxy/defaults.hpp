// The constants of proxies and their sources. "upstream" is Kubernetes 1.33's API server, "Go" its
// net/http client.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::server::defaults {

using namespace std::chrono_literals;

// Go: the sum of the time-outs of the dialer and of a TLS handshake.
inline constexpr std::chrono::nanoseconds proxy_connect = 40s;
// How soon the departure of a client that awaits its response is noticed.
inline constexpr std::chrono::nanoseconds proxy_gone_check_period = 1s;
// The size of one write to the port.
inline constexpr std::size_t proxy_piece_bytes = 64u << 10;
// Host names being resolved, or waiting for that.
inline constexpr std::size_t waiting_lookups = 64;
// Go: max1xxResponses.
inline constexpr int interim_answers = 5;

}  // namespace troupe::server::defaults
