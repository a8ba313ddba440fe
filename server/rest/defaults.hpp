// The constants of the REST API's behaviour and their sources. "upstream" is Kubernetes 1.36's API
// server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::server::defaults {

using namespace std::chrono_literals;

// -- lists --------------------------------------------------------------------------------------
// The part of a list that is encoded at once (list_body::add), in a few milliseconds if nothing is
// cached; the rest is encoded in parts while it is sent: other requests of the thread run in
// between, and memory is bounded. A list of 1,000 pods is encoded at once.
inline constexpr std::size_t list_at_once = 4u << 20;
inline constexpr std::size_t list_part = 256u << 10;
// The part of a document that is indented at once, and the depth from which on lines are not
// indented further: else a custom object of many levels would become a thousand times as long.
inline constexpr std::size_t pretty_part = 64u << 10;
inline constexpr std::size_t pretty_depth = 32;
// The terms of a selector in a request. The watcher compares each event with the selectors of all
// watches, and a query has room for 20,000 terms; values of one term are found by a binary search.
inline constexpr std::size_t selector_terms = 256;

// -- watches ------------------------------------------------------------------------------------
// upstream: min-request-timeout. A watch without timeoutSeconds lasts this long, up to twice that.
inline constexpr std::chrono::nanoseconds watch_timeout = 30min;
// Events between the watcher and a watch, including those that wait for a slow client.
inline constexpr std::uint32_t watch_credit = 256;
// The size of one write to the stream, also for large objects.
inline constexpr std::size_t watch_chunk_bytes = 64u << 10;
// How soon a watch notices that the watcher has lost it (after a crash). With 10,000 watches it is
// a thousand messages a second.
inline constexpr std::chrono::nanoseconds watch_heartbeat = 10s;
// The time for the bookmark requested when the watch times out.
inline constexpr std::chrono::nanoseconds last_bookmark_wait = 200ms;

// -- writes -------------------------------------------------------------------------------------
// Requests that wait for a retry.
inline constexpr std::size_t retry_queue = 1'000;
// The number of lists that wait for an earlier state of the store to be rebuilt.
inline constexpr std::size_t rebuild_queue = 100;
// A node that has not replied about a log within this time has a dead link; how often a followed
// log is checked for the end of its container there.
inline constexpr std::chrono::nanoseconds remote_log_wait = 5s;
inline constexpr std::chrono::nanoseconds remote_log_check_period = 500ms;
// Nodes that have not sent their usage within this time are omitted: the first query takes a node a
// quarter of a second, and a client waits for all of them.
inline constexpr std::chrono::nanoseconds usage_wait = 5s;
// Concurrent deletions of one deletecollection.
inline constexpr std::size_t parallel_deletions = 64;

// -- start --------------------------------------------------------------------------------------
// A disk that takes longer for its first write is broken.
inline constexpr std::chrono::nanoseconds start_wait = 30s;

// -- services -----------------------------------------------------------------------------------
// Keys repaired in one transaction at the start, and the limit of such transactions: a cluster of a
// million Services needs another start.
inline constexpr std::size_t repair_batch = 1'000;
inline constexpr int repair_rounds = 1'000;

}  // namespace troupe::server::defaults
