// The constants of a link's behaviour with their sources.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "runtime/clock.hpp"

namespace troupe::runtime::link::defaults {

using namespace std::chrono_literals;

// -- bounds of queues ----------------------------------------------------------------------------

// The API's largest object has 3 MiB (kubernetes: apiserver, MaxRequestBodyBytes); the fourth is
// for the rest of its frame.
inline constexpr std::size_t frame_limit_bytes = 4u << 20;
// Bytes that wait to be sent to one peer; then frames are rejected. Two of the largest frames, or
// the changes that a node of 110 pods sees in minutes.
inline constexpr std::size_t outbox_limit_bytes = 8u << 20;
// Bytes received from one peer and not yet released; at this limit reading stops.
inline constexpr std::size_t window_limit_bytes = 4u << 20;
// The overhead of a frame in outbox and window, which also bounds many empty frames.
inline constexpr std::size_t frame_overhead_bytes = 128;
// Frame bytes in one packet; a large frame takes several packets. This bounds the memory for
// reading a packet, and pings can be sent between two packets.
inline constexpr std::size_t packet_limit_bytes = 128u << 10;
// How far HTTP/2 lets the peer send ahead of our reading. 5 MB/s at a round trip of 100 ms; gRPC's
// probing for more is off because it is unbounded.
inline constexpr std::size_t read_ahead_bytes = 512u << 10;

// -- the server side ------------------------------------------------------------------------------

// From the TCP connection to an accepted hello. gRPC's 120 s would hold sockets of unknown clients;
// ours takes 10 ms, and five round trips on the worst lines.
inline constexpr duration handshake_limit = 5s;
// The maximum of connections in their handshake; one more closes the oldest of them.
inline constexpr std::size_t handshakes_limit = 256;
// The period of checks for handshake timeouts.
inline constexpr duration handshake_round = 500ms;
// Connections accepted in a row before the thread handles existing ones.
inline constexpr int accepted_at_once = 64;
// Minimum time between two log lines that unknown clients can cause; the metrics count each.
inline constexpr duration refusal_line_period = 10s;
// gRPC's memory quota for all connections of a listener; above it, it closes some. Five thousand
// connections that have sent ahead all they may would take 2.5 GB: this is the last defence, after
// the limits above.
inline constexpr std::size_t quota_bytes = 1u << 30;
// Limit of a call's headers.
inline constexpr int metadata_limit_bytes = 8 << 10;

// -- the client side ------------------------------------------------------------------------------

// Timeout of an attempt to connect, up to the server's answer.
inline constexpr duration attempt_limit = 3s;
// Back-off between the starts of two attempts: doubled from the first to the limit, with full
// jitter. A limit below 5 s means that a healed partition is used within 5 s.
inline constexpr duration redial_first = 200ms;
inline constexpr duration redial_limit = 4s;
// After a session of this length the back-off starts again.
inline constexpr duration redial_calm = 10s;

// -- both -----------------------------------------------------------------------------------------

// A ping is sent after this time, and answered within the limit below: a dead connection is
// detected within 4 s, and a node reconnects to another control plane within 5 s. Kubernetes' own
// clients take 30 s and 15 s; a node is NotReady after 40 s.
inline constexpr duration keepalive_period = 2s;
inline constexpr duration keepalive_limit = 2s;
// Pings that arrive faster than this, twice, close the connection.
inline constexpr duration ping_period_least = 1s;
// While the window is full nothing is read: the client writes an empty packet this often to detect
// a dead connection.
inline constexpr duration heartbeat_period = 2s;
// How long close() waits for queued frames.
inline constexpr duration linger = 1s;

// Versions of stream.proto.
inline constexpr std::uint32_t oldest_version = 1;
inline constexpr std::uint32_t newest_version = 1;

}  // namespace troupe::runtime::link::defaults
