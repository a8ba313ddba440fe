// The constants that stand for behaviour of the runtime, with the reason for each.
#pragma once

#include <chrono>
#include <cstddef>

#include "runtime/clock.hpp"

namespace troupe::runtime::defaults {

using namespace std::chrono_literals;

// First wait before an actor that threw is started again; doubled at each crash up to the maximum.
// Short enough that one bad message is not noticed, long enough that a loop of crashes costs
// nothing.
inline constexpr duration restart_backoff = 100ms;
inline constexpr duration restart_backoff_max = 30s;
// An actor that has run this long since its last crash begins with the first wait again.
inline constexpr duration restart_calm = 60s;

// Messages that may wait in one mailbox: at about 200 bytes each a full one holds 20 MB.
inline constexpr std::size_t mailbox_limit = 100'000;

// Messages that an actor may handle before it goes to the end of the run queue. Without a bound two
// busy actors starve a third for seconds.
inline constexpr std::size_t max_throughput = 300;

// How long the end of a system waits for handlers that are running.
inline constexpr duration shutdown_grace = 5s;

// Delays beyond this are cut to it, so that no deadline overflows.
inline constexpr duration longest_delay = 24h * 365 * 10;

// Timers that the clock's thread takes out of its heap at once, before it delivers them unlocked.
inline constexpr std::size_t timer_batch = 256;

// Messages that each ring of the recorder holds, 72 bytes each: at 50,000 messages a second on a
// thread what the console's trace reads every 100 ms is never overwritten.
inline constexpr std::size_t recorder_slots = 8'192;
// Timers with at least this delay fire on a grid of 50 ms, at most 1 % late: 5,000 nodes that renew
// their leases every 10 s wake the machine 20 times a second, not 500 times.
inline constexpr duration coalesced_delay = 5s;
inline constexpr duration coalesced_grid = 50ms;
// Timers that an inspection lists.
inline constexpr std::size_t timers_shown = 100;
// Restarts that an actor remembers with their reasons.
inline constexpr std::size_t restarts_kept = 5;
// An actor that was paused goes on by itself after this time at the latest: who paused it may have
// gone.
inline constexpr duration longest_pause = 10min;

// Where the wall clock of a simulation begins: 2024-01-01T00:00:00Z.
inline constexpr wall_time simulation_epoch{1'704'067'200s};

}  // namespace troupe::runtime::defaults
