// The constants of the runtime's behaviour with their reasons.
#pragma once

#include <chrono>
#include <cstddef>

#include "runtime/clock.hpp"

namespace troupe::runtime::defaults {

using namespace std::chrono_literals;

// The first back-off before a crashed actor restarts; doubled at each crash up to the
// maximum. Short enough that one bad message is not noticed, long enough that a crash loop is
// cheap.
inline constexpr duration restart_backoff = 100ms;
inline constexpr duration restart_backoff_max = 30s;
// After running this long since its last crash an actor starts with the first back-off again.
inline constexpr duration restart_calm = 60s;

// The maximum of messages in a mailbox: at about 200 bytes each a full one takes 20 MB.
inline constexpr std::size_t mailbox_limit = 100'000;

// Messages that an actor handles before it goes to the end of the run queue. Without a bound two
// busy actors starve a third for seconds.
inline constexpr std::size_t max_throughput = 300;

// How long the shutdown of a system waits for running handlers.
inline constexpr duration shutdown_grace = 5s;

// Longer delays are capped, so that no deadline overflows.
inline constexpr duration longest_delay = 24h * 365 * 10;

// Timers that the clock's thread takes from its heap at once, before it delivers them unlocked.
inline constexpr std::size_t timer_batch = 256;

// Messages in each ring of the recorder, 72 bytes each: at 50,000 messages a second on a thread
// nothing is overwritten before the console's trace reads it (every 100 ms).
inline constexpr std::size_t recorder_slots = 8'192;
// Timers with at least this delay fire on a grid of 50 ms, at most 1 % late: 5,000 nodes that renew
// their leases every 10 s wake the machine 20 times a second, not 500 times.
inline constexpr duration coalesced_delay = 5s;
inline constexpr duration coalesced_grid = 50ms;
// The maximum of timers in an inspection.
inline constexpr std::size_t timers_shown = 100;
// The maximum of restarts that are remembered with their reasons.
inline constexpr std::size_t restarts_kept = 5;
// The maximum of a pause, after which the actor resumes by itself: the pausing client may be
// gone.
inline constexpr duration longest_pause = 10min;

// The initial wall clock of a simulation: 2024-01-01T00:00:00Z.
inline constexpr wall_time simulation_epoch{1'704'067'200s};

}  // namespace troupe::runtime::defaults
