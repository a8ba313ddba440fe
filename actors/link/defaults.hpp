// Constants of the gateways' behaviour, each with its source.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "runtime/clock.hpp"
#include "runtime/link/defaults.hpp"

namespace troupe::actors::link_defaults {

using namespace std::chrono_literals;
using runtime::duration;

// Messages are batched in frames of about this size; a single message may be larger.
inline constexpr std::size_t batch_bytes = 256u << 10;
// No frame is given to the link while this much is queued there, so that it never rejects one.
inline constexpr std::size_t outbox_high_bytes = runtime::link::defaults::outbox_limit_bytes / 2;
// Maximum backlog beyond that for a peer that does not read. If exceeded, the session ends; a node
// reconnects and resumes after the last revision it has seen.
inline constexpr std::size_t backlog_limit_bytes = 16u << 20;
// How soon sending the backlog is retried.
inline constexpr duration backlog_round = 20ms;

// Maximum length of a peer's text in an answer or log line: it may be as long as a frame.
inline constexpr std::size_t reason_limit_bytes = 512;
// Minimum time between two log lines about rejected nodes: an unknown node calls again every four
// seconds.
inline constexpr duration refused_node_line_period = 10s;

// Maximum length of a key that a node watches; the longest keys have a namespace of 63 characters
// and a name of 253.
inline constexpr std::size_t key_limit_bytes = 1'024;
// Maximum number of rejected nodes whose next call is judged behind a barrier.
inline constexpr std::size_t refusals_under_way = 1'000;

// Maximum number of pending requests of a node: more than a node of 110 pods needs.
inline constexpr std::size_t requests_under_way = 1'000;
// A pending request without an answer is dropped after this; all requesters time out earlier.
inline constexpr duration request_limit = 60s;
// Maximum number of streams of a node: its pods, itself, and its pods' config maps and secrets.
inline constexpr std::size_t streams = 10'000;
// Maximum number of unacknowledged events on one stream, whatever credit the node gives.
inline constexpr std::int64_t stream_credit = 10'000;
// A rejected stream is requested again after this: the reason may be gone.
inline constexpr duration refused_again = 2s;
// Period of a gateway's check for overdue requests and rejected streams.
inline constexpr duration round = 1s;
// Period of the check for streams whose subscriber has ended.
inline constexpr duration sweep = 60s;

// Maximum size of events that a node keeps while it has no link, serialized; the oldest are
// dropped first. About the thousand that upstream's recorder queues (client-go
// record.maxQueuedEvents).
inline constexpr std::size_t unsent_event_bytes = 1u << 20;
// Upper limit of an event's reported age: an older one would have been removed already
// (kube-apiserver --event-ttl).
inline constexpr std::chrono::milliseconds event_age_limit = 1h;

// Maximum number of followed logs and of pending console requests at one node.
inline constexpr std::size_t served_requests = 1'000;
// Maximum usage that a node may report: a million processors, the practical limit of a 64 bit
// address space, a day. Larger values are an error of the node.
inline constexpr std::uint64_t usage_most_cpu_nano = 1'000'000ull * 1'000'000'000;
inline constexpr std::uint64_t usage_most_memory_bytes = 1ull << 57;
inline constexpr duration usage_longest_time = 24h;
inline constexpr duration usage_longest_up = 100 * 365 * 24h;
inline constexpr std::uint64_t usage_most_supply = 1ull << 60;
// The node's usage meter answers within its time limit, or with an error.
inline constexpr duration usage_wait = 15s;
// Maximum number of unacknowledged parts of a log (each `defaults::log_part_bytes` at most).
inline constexpr std::uint32_t log_credit = 4;

// -- streams into containers ----------------------------------------------------------------------

// Maximum number of streams of one node: more consoles and forwarded connections than 110 pods
// need. With the windows below they cost each end at most 64 MB per direction.
inline constexpr std::size_t container_streams = 250;
// Unacknowledged bytes of a stream per direction: 5 MB/s at a round trip of 50 ms.
inline constexpr std::size_t stream_window_bytes = 256u << 10;
// Maximum size of one item, as one part of a log: streams take turns with one item each.
inline constexpr std::size_t stream_piece_bytes = 64u << 10;
// No stream item is given to the link while this much is queued there. Other messages, above all a
// node's Lease, wait behind it: 4 s at 1 Mbit/s. With `backlog_round`, 25 MB/s.
inline constexpr std::size_t streams_ahead_bytes = 512u << 10;
// Timeout of opening a stream on a node, the same as for reading a log (server:
// remote_log_wait).
inline constexpr duration stream_open_wait = 5s;
// Exit code of a stream whose real one is unknown: no command has it.
inline constexpr int lost_stream_code = -1;

}  // namespace troupe::actors::link_defaults
