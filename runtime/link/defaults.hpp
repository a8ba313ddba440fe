// The constants that stand for behaviour of a link, each with its source.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "runtime/clock.hpp"

namespace troupe::runtime::link::defaults {

using namespace std::chrono_literals;

// -- what may wait --------------------------------------------------------------------------------

// The largest object that the API takes is 3 MiB (kubernetes: apiserver, MaxRequestBodyBytes); what
// goes round it in a frame has room in the fourth.
inline constexpr std::size_t frame_limit_bytes = 4u << 20;
// Waiting to be sent to one peer; a frame is refused once as much waits. Two of the largest frames,
// or the changes that a node of 110 pods sees in minutes.
inline constexpr std::size_t outbox_limit_bytes = 8u << 20;
// Received from one peer and not let go of; when as much is held, no more is read.
inline constexpr std::size_t window_limit_bytes = 4u << 20;
// What a frame costs besides its bytes, in outbox and window: many empty ones are bounded too.
inline constexpr std::size_t frame_overhead_bytes = 128;
// Frames of one packet, of which a large frame takes several: so a packet is read into little
// memory whatever is in it, and pings get between two of them.
inline constexpr std::size_t packet_limit_bytes = 128u << 10;
// What HTTP/2 lets the peer send ahead of our reading. At a round trip of 100 ms 5 MB/s; gRPC's own
// probing for more is off, since it knows no bound.
inline constexpr std::size_t read_ahead_bytes = 512u << 10;

// -- the side that is called ----------------------------------------------------------------------

// From the TCP connection to a hello that was accepted. gRPC's 120 s would hold sockets of
// strangers; ours takes 10 ms, and five round trips over the worst of lines.
inline constexpr duration handshake_limit = 5s;
// Connections that may be in their handshake at once; one more cuts the oldest of them.
inline constexpr std::size_t handshakes_limit = 256;
// Between two looks after handshakes that take too long.
inline constexpr duration handshake_round = 500ms;
// Connections in a row that the thread accepts before it looks after the others.
inline constexpr int accepted_at_once = 64;
// Between two lines of the log that unknown clients can cause; the metrics count each.
inline constexpr duration refusal_line_period = 10s;
// What gRPC may allocate for all connections of a listener; above it, it closes some. Five thousand
// that have sent ahead all they may would take 2.5 GB: this is the last line, after the limits
// above.
inline constexpr std::size_t quota_bytes = 1u << 30;
// Of the headers of a call.
inline constexpr int metadata_limit_bytes = 8 << 10;

// -- the side that calls --------------------------------------------------------------------------

// From the attempt to the answer of the other side.
inline constexpr duration attempt_limit = 3s;
// Between the starts of two attempts: the first of a row, doubled up to the limit, each with full
// jitter. With the limit below 5 s a healed partition is used within 5 s.
inline constexpr duration redial_first = 200ms;
inline constexpr duration redial_limit = 4s;
// A session that lived this long begins a new row.
inline constexpr duration redial_calm = 10s;

// -- both -----------------------------------------------------------------------------------------

// A ping after this time, and how long its answer may take: a dead connection is noticed within 4
// s, and a machine goes on at another control plane within 5 s. Kubernetes' own clients take 30 s
// and 15 s; a node is NotReady after 40 s.
inline constexpr duration keepalive_period = 2s;
inline constexpr duration keepalive_limit = 2s;
// Pings that come faster than this, twice, end the connection.
inline constexpr duration ping_period_least = 1s;
// While the window is full nothing is read: the caller writes an empty packet this often to learn
// whether there is still somebody.
inline constexpr duration heartbeat_period = 2s;
// How long the end of a session waits until what is queued has gone out.
inline constexpr duration linger = 1s;

// Versions of stream.proto.
inline constexpr std::uint32_t oldest_version = 1;
inline constexpr std::uint32_t newest_version = 1;

}  // namespace troupe::runtime::link::defaults
