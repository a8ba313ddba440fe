// The constants of the REST API's behaviour and where they come from. "upstream" is
// Kubernetes 1.36's API server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::server::defaults {

using namespace std::chrono_literals;

// -- lists --------------------------------------------------------------------------------------
// Of a list so much is made at once (list_body::add), in a few milliseconds where nothing of it is
// encoded yet, and the rest in parts while it is sent: other requests of the thread come in
// between, and no more of it is in memory at a time. A list of 1,000 pods is made at once.
inline constexpr std::size_t list_at_once = 4u << 20;
inline constexpr std::size_t list_part = 256u << 10;

// -- watches ------------------------------------------------------------------------------------
// upstream: min-request-timeout. A watch without timeoutSeconds lasts so long, or up to twice that.
inline constexpr std::chrono::nanoseconds watch_timeout = 30min;
// Events under way from the watcher to one watch, so also those that wait for a slow client.
inline constexpr std::uint32_t watch_credit = 256;
// Handed to the stream in one piece, however large the object.
inline constexpr std::size_t watch_chunk_bytes = 64u << 10;
// How soon a watch notices that the watcher has forgotten it (after a crash). With 10,000 watches
// this is a thousand messages a second.
inline constexpr std::chrono::nanoseconds watch_heartbeat = 10s;
// For the bookmark that is asked for when the time of a watch is up.
inline constexpr std::chrono::nanoseconds last_bookmark_wait = 200ms;

// -- writes -------------------------------------------------------------------------------------
// Requests that wait for another try.
inline constexpr std::size_t retry_queue = 1'000;
// A node that has not answered by then whether it has a log is behind a dead link; how often the
// end of a container is looked for whose log is followed there.
inline constexpr std::chrono::nanoseconds remote_log_wait = 5s;
inline constexpr std::chrono::nanoseconds remote_log_look = 500ms;
// A node that has not said by then what it uses is left out: the first question takes a node a
// quarter of a second, and a client waits for all of them.
inline constexpr std::chrono::nanoseconds usage_wait = 5s;
// How many objects one deletecollection has under way at the same time.
inline constexpr std::size_t parallel_deletions = 64;

// -- start --------------------------------------------------------------------------------------
// A disk that takes longer for its first write is broken.
inline constexpr std::chrono::nanoseconds start_wait = 30s;

// -- services -----------------------------------------------------------------------------------
// Keys of numbers that are put right in one transaction at the start, and such transactions at
// most: a cluster of a million Services takes one start more.
inline constexpr std::size_t repair_batch = 1'000;
inline constexpr int repair_rounds = 1'000;

}  // namespace troupe::server::defaults
