#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::actors::usage_defaults {

using namespace std::chrono_literals;

// A node that has not said by then what it uses is left out: the first question takes a node a
// quarter of a second, and who asks waits for all of them: the API server for 5 s
// (server/rest/defaults.hpp).
inline constexpr auto node_wait = 4s;
// Questions under way at a time; each may wait for every node.
inline constexpr std::size_t questions = 256;
// What a simulated pod uses is said to have been measured for so long, as by metrics-server.
inline constexpr auto simulated_window = 15s;

}  // namespace troupe::actors::usage_defaults
