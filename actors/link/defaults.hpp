// The constants that stand for behaviour of the gateways, each with its source.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "runtime/clock.hpp"
#include "runtime/link/defaults.hpp"

namespace troupe::actors::link_defaults {

using namespace std::chrono_literals;
using runtime::duration;

// Messages go together in frames of about this size; one message may be larger.
inline constexpr std::size_t batch_bytes = 256u << 10;
// No more is given to the link while as much waits there, so that it never refuses a frame.
inline constexpr std::size_t outbox_high_bytes = runtime::link::defaults::outbox_limit_bytes / 2;
// What waits besides, for a peer that does not read. More ends the session; a node comes back
// and goes on from what it has seen.
inline constexpr std::size_t backlog_limit_bytes = 16u << 20;
// How soon what waits for room is tried again.
inline constexpr duration backlog_round = 20ms;

// Of a text from a peer in an answer or the log: it may be as long as a frame.
inline constexpr std::size_t reason_limit_bytes = 512;
// Between two lines of the log about nodes that were refused: one that nobody knows calls again
// every four seconds.
inline constexpr duration refused_node_line_period = 10s;

// Of a key that a node follows; the longest there are have a namespace of 63 characters and a name
// of 253.
inline constexpr std::size_t key_limit_bytes = 1'024;
// Nodes that were refused and whose next call is judged behind a barrier.
inline constexpr std::size_t refusals_under_way = 1'000;

// Requests of a node that wait for their answer: more than a node of 110 pods has reason to make.
inline constexpr std::size_t requests_under_way = 1'000;
// An answer that did not come by then will not come; longer than every asker waits.
inline constexpr duration request_limit = 60s;
// Streams of a node: its pods, itself, and the config maps and secrets of its pods.
inline constexpr std::size_t streams = 10'000;
// Events under way on one stream, whatever credit the node gives.
inline constexpr std::int64_t stream_credit = 10'000;
// A stream that was refused is asked for again after this: the reason may have gone.
inline constexpr duration refused_again = 2s;
// Between two looks of a gateway after what has been left waiting.
inline constexpr duration round = 1s;
// Between two looks after streams whose subscriber has ended.
inline constexpr duration sweep = 60s;

// Events that a node keeps while it has no link, in bytes as they travel; the oldest are dropped
// for newer ones. About the thousand that upstream's recorder queues (client-go
// record.maxQueuedEvents).
inline constexpr std::size_t unsent_event_bytes = 1u << 20;
// An event of longer ago is not older than this: by then it would have been removed
// (kube-apiserver --event-ttl).
inline constexpr std::chrono::milliseconds event_age_limit = 1h;

// Followed logs and questions of consoles under way at one node.
inline constexpr std::size_t served_requests = 1'000;
// What a node may say that it uses: a million processors, what an address of 64 bits reaches in
// practice, a day. More is an error of it, or no node.
inline constexpr std::uint64_t usage_most_cpu_nano = 1'000'000ull * 1'000'000'000;
inline constexpr std::uint64_t usage_most_memory_bytes = 1ull << 57;
inline constexpr duration usage_longest_time = 24h;
inline constexpr duration usage_longest_up = 100 * 365 * 24h;
inline constexpr std::uint64_t usage_most_supply = 1ull << 60;
// The node's own meter answers within its look limit, or says why it cannot.
inline constexpr duration usage_wait = 15s;
// Parts of a log under way (each `defaults::log_part_bytes` at most).
inline constexpr std::uint32_t log_credit = 4;

// -- streams into containers ----------------------------------------------------------------------

// Of one node: more consoles and forwarded connections than 110 pods give reason for. With the
// windows below they cost either side 64 MB each way at most.
inline constexpr std::size_t container_streams = 250;
// Bytes of a stream under way each way: 5 MB/s at a round trip of 50 ms.
inline constexpr std::size_t stream_window_bytes = 256u << 10;
// In one item, as one part of a log: streams take turns, each with one.
inline constexpr std::size_t stream_piece_bytes = 64u << 10;
// No more of streams is given to the link while as much waits there. What else is said, a node's
// lease above all, waits behind that: 4 s on a line of 1 Mbit/s. With `backlog_round`, 25 MB/s.
inline constexpr std::size_t streams_ahead_bytes = 512u << 10;
// Who opens a stream waits no longer for the node: as who reads a log does (server:
// remote_log_wait).
inline constexpr duration stream_open_wait = 5s;
// What a stream ends with when nobody saw how: no command has it.
inline constexpr int lost_stream_code = -1;

}  // namespace troupe::actors::link_defaults
