// The constants of the server's behaviour and where they come from. "upstream" is Kubernetes 1.36's
// API server, "Go" the net/http server below it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::server::defaults {

using namespace std::chrono_literals;

// -- requests ---------------------------------------------------------------------------------
// upstream: MaxRequestBodyBytes.
inline constexpr std::size_t body_limit_bytes = 3u << 20;
// Half of Go's kubectl-side limits is never reached; beyond it the answer is 431.
inline constexpr std::size_t header_limit_bytes = 64u << 10;
inline constexpr std::size_t header_count_limit = 128;
// The body of a refused request that is read and thrown away to keep the connection; Go's figure.
inline constexpr std::size_t drained_body_bytes = 256u << 10;
// upstream: max-requests-inflight, max-mutating-requests-inflight; then 429 with Retry-After.
inline constexpr std::size_t reads_in_flight = 400;
inline constexpr std::size_t writes_in_flight = 200;
inline constexpr int retry_after_seconds = 1;
// Of the places in flight a tenth is kept for system:masters and a twentieth for the heartbeats of
// nodes (in_flight.hpp).
inline constexpr std::size_t masters_part = 10;
inline constexpr std::size_t nodes_part = 20;
// upstream: request-timeout; then 504.
inline constexpr std::chrono::milliseconds request_timeout = 60s;

// -- answers ----------------------------------------------------------------------------------
// upstream: defaultGzipThresholdBytes. Shorter ones cost more to compress than to send.
inline constexpr std::size_t compress_from = 128u << 10;
// Compressed in one go, some 2 ms of the thread.
inline constexpr std::size_t compress_part = 256u << 10;
inline constexpr std::size_t compress_buffer = 64u << 10;
// Answers that are being compressed at the same time; each has some 270 KB of zlib's memory until
// its client has read it. Beyond that they go out as they are.
inline constexpr std::size_t compressions = 128;

// -- bodies -----------------------------------------------------------------------------------
// Apache's mod_reqtimeout (MinRate=500), with half of its time to begin: a body must have come
// after so long and what it takes at that rate; then 408.
inline constexpr std::chrono::milliseconds body_grace = 10s;
inline constexpr std::size_t body_bytes_per_second = 500;
// Held of bodies that come in several pieces, until their answers: in all, for a user, for an
// address; never less than some of the largest bodies. Then 429.
inline constexpr std::size_t bodies_bytes = 256u << 20;
inline constexpr std::size_t user_bodies_bytes = 64u << 20;
inline constexpr std::size_t address_bodies_bytes = 128u << 20;
inline constexpr std::size_t body_step_bytes = 16u << 10;
// Memory for an announced body is taken at once up to here, and then as it comes.
inline constexpr std::size_t body_reserve_bytes = 64u << 10;

// -- refusals ---------------------------------------------------------------------------------
// Lines of the audit log: one of each kind in so long, and so many in a second.
inline constexpr std::chrono::milliseconds refusal_period = 10s;
inline constexpr int refusal_lines = 50;

// -- connections ------------------------------------------------------------------------------
inline constexpr std::size_t io_threads = 2;
// upstream: ReadHeaderTimeout.
inline constexpr std::chrono::milliseconds header_timeout = 32s;
// Go: tls handshakes are bounded by the same; ten seconds is what its clients wait.
inline constexpr std::chrono::milliseconds handshake_timeout = 10s;
inline constexpr std::chrono::milliseconds idle_timeout = 5min;
// A peer that takes nothing for so long while something waits for it is cut off.
inline constexpr std::chrono::milliseconds stall_timeout = 30s;
// After our last byte, what the peer still sends is thrown away for so long and so much.
inline constexpr std::chrono::milliseconds linger_timeout = 1s;
inline constexpr std::size_t linger_bytes = 16u << 20;
// Answers under way when the server stops.
inline constexpr std::chrono::milliseconds drain_timeout = 1s;
inline constexpr std::size_t connections = 16'384;
// Of these, for unauthenticated connections: half in all, and so many from one
// address (an IPv6 network of 64 bits is one); the oldest idle one makes room for a new one.
inline constexpr std::size_t unauthenticated_part = 2;
inline constexpr std::size_t unauthenticated_per_address = 1024;
// Kept for the local socket: a sixteenth, at most so many.
inline constexpr std::size_t local_connections_part = 16;
inline constexpr std::size_t local_connections = 64;
// Accepted beyond the limit while unauthenticated connections are closed for them.
inline constexpr std::size_t connections_overrun = 128;
// File descriptors that are not for connections: store, logs, child processes' pipes.
inline constexpr std::size_t reserved_descriptors = 512;
inline constexpr int listen_backlog = 4096;
// Dead peers of idle connections are found by the kernel after 30 + 3 * 15 s.
inline constexpr int keepalive_idle_seconds = 30;
inline constexpr int keepalive_interval_seconds = 15;
inline constexpr int keepalive_probes = 3;

// -- buffers ----------------------------------------------------------------------------------
// Bytes that a stream may have waiting before write() says false: some seconds of a busy watch.
inline constexpr std::size_t stream_buffer_bytes = 1u << 20;
// The same of all streams, and what each may have waiting however many there are.
inline constexpr std::size_t streams_bytes = 256u << 20;
inline constexpr std::size_t stream_least_bytes = 16u << 10;
inline constexpr std::size_t stream_overrun_factor = 4;
// Plain text of one TLS record.
inline constexpr std::size_t record_bytes = 16u << 10;
// Handed to the kernel in one call; what it does not take waits, and nothing more is encrypted.
inline constexpr std::size_t send_bytes = 128u << 10;
// The same while the peer takes less than it is given: that much of it waits here in encrypted
// form.
inline constexpr std::size_t blocked_send_bytes = 16u << 10;
// What the kernel holds that it has not sent: more waits here, where all streams together are
// bounded. Without that 10,000 watches that nobody reads fill the machine's memory for TCP
// (net.ipv4.tcp_mem), and no connection gets on.
inline constexpr int unsent_bytes = 64 << 10;
// What a connection may write before the others of its thread have their turn: encrypted and sent
// in about a third of a millisecond.
inline constexpr std::size_t turn_bytes = 256u << 10;

// -- HTTP/2 -----------------------------------------------------------------------------------
// Go: http2 MaxConcurrentStreams.
inline constexpr std::uint32_t concurrent_streams = 250;
inline constexpr std::uint32_t stream_window_bytes = 256u << 10;
inline constexpr std::int32_t connection_window_bytes = 1 << 20;
// Streams that a client may reset before their answer (CVE-2023-44487): so many at once, and so
// many each second in the long run. The figures of nghttp2's own guard.
inline constexpr double reset_burst = 1000;
inline constexpr double resets_per_second = 33;

// -- unauthenticated connections --------------------------------------------------------------
// A connection over TLS without a client certificate, until a request on it has told who asks: all
// that it makes us keep is below 64 KiB. Of the 20 KB that any connection takes it has twice as
// much for requests and answers.
inline constexpr std::uint32_t unauthenticated_streams = 5;
// The largest token that is known in practice, with groups in it, takes some 10 KB.
inline constexpr std::size_t unauthenticated_header_bytes = 16u << 10;
// Of an answer that is not read so much waits in encrypted form.
inline constexpr std::size_t unauthenticated_send_bytes = 4u << 10;
// Streams beyond the limit, of a client that has not heard of it yet: Go begins with 100.
inline constexpr std::size_t refused_streams = 100;
// Answers to PING and SETTINGS that wait to be sent; nghttp2 allows 1,000.
inline constexpr std::size_t waiting_acks = 64;

// Of a file that a user names: a kubeconfig, a token, a configuration of the scheduler.
inline constexpr std::size_t named_file_bytes = 3u << 20;

// -- certificates -----------------------------------------------------------------------------
// kubeadm: ten years for the authority, one for what it signs.
inline constexpr std::chrono::hours authority_life = 24h * 3650;
inline constexpr std::chrono::hours certificate_life = 24h * 365;
// Of its life; k3s renews with a similar rest.
inline constexpr double renew_below = 0.3;
inline constexpr std::chrono::milliseconds renew_period = 1h;
// Of this machine, in the certificate of a server that listens on all of them.
inline constexpr std::size_t interface_addresses = 64;

}  // namespace troupe::server::defaults
