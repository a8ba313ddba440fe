// Constants of the streams' behaviour, each with its source.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::actors::process_defaults {

using namespace std::chrono_literals;

// Maximum number of attached clients of one container, and the unread output buffered for each: two
// seconds at log_bytes_per_second, so that a burst alone disconnects nobody.
inline constexpr std::size_t attach_limit = 16;
inline constexpr std::size_t attach_backlog_bytes = 16u << 20;
// How long a shim may take to answer; how long a container's last output waits for its readers.
inline constexpr auto attach_timeout = 10s;
inline constexpr auto attach_drain_limit = 10s;
// A container that is being started, or whose shim hung up, is checked again after this.
inline constexpr auto start_check_delay = 20ms;
// A shim that hung up counts as alive after this many checks.
inline constexpr int attach_checks = 10;

}  // namespace troupe::actors::process_defaults
