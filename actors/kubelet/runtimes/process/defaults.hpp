// Constants of the process runtime's behaviour, each with its source.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::actors::process_defaults {

using namespace std::chrono_literals;

// A container that writes faster is blocked; at this rate its whole log is rotated away in 6 s.
inline constexpr std::int64_t log_bytes_per_second = 8 << 20;
// How long a port of this machine may take to answer.
inline constexpr auto port_patience = 10s;
// How long a killed container and its shim may take to exit when the machine leaves the cluster.
inline constexpr auto leftover_patience = 5s;
// Maximum number of processes that are read: the kernel's pid_max of small machines.
inline constexpr std::size_t usage_processes = 32'768;

// Attempts to create a pod's control group when it is removed at the same time.
inline constexpr int cgroup_making_tries = 5;
// Killed processes leave their control group within milliseconds, unless the kernel is busy.
inline constexpr int cgroup_removal_tries = 100;
inline constexpr int cgroup_removal_pause_ms = 10;

}  // namespace troupe::actors::process_defaults
