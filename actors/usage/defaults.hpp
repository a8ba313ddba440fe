#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::actors::usage_defaults {

using namespace std::chrono_literals;

// Timeout of a usage query; nodes without an answer are left out. A node's first answer takes
// 250 ms, and the client waits for all nodes: the API server for 5 s
// (server/rest/defaults.hpp).
inline constexpr auto node_wait = 4s;
// The maximum of concurrent queries; each may wait for every node.
inline constexpr std::size_t questions = 256;
// The reported measurement window of simulated pods, that of metrics-server.
inline constexpr auto simulated_window = 15s;

}  // namespace troupe::actors::usage_defaults
