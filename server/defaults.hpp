// The constants of the server's behaviour and their sources. "upstream" is Kubernetes 1.36's API
// server, "Go" the net/http server below it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::server::defaults {

using namespace std::chrono_literals;

// -- requests ---------------------------------------------------------------------------------
// upstream: MaxRequestBodyBytes.
inline constexpr std::size_t body_limit_bytes = 3u << 20;
// Far more than clients send in practice; a larger head gets a 431.
inline constexpr std::size_t header_limit_bytes = 64u << 10;
inline constexpr std::size_t header_count_limit = 128;
// The part of a refused request's body that is read and discarded to keep the connection; as Go.
inline constexpr std::size_t drained_body_bytes = 256u << 10;
// upstream: max-requests-inflight, max-mutating-requests-inflight; then 429 with Retry-After.
inline constexpr std::size_t reads_in_flight = 400;
inline constexpr std::size_t writes_in_flight = 200;
inline constexpr int retry_after_seconds = 1;
// Parts (1/n) of the requests in flight reserved for system:masters, and for heartbeats of nodes
// (in_flight.hpp).
inline constexpr std::size_t masters_part = 10;
inline constexpr std::size_t nodes_part = 20;
// upstream: request-timeout; then 504.
inline constexpr std::chrono::milliseconds request_timeout = 60s;

// -- responses ----------------------------------------------------------------------------------
// upstream: defaultGzipThresholdBytes. Compressing shorter responses costs more than sending them.
inline constexpr std::size_t compress_from = 128u << 10;
// Compressed at once; takes about 2 ms of the thread.
inline constexpr std::size_t compress_part = 256u << 10;
inline constexpr std::size_t compress_buffer = 64u << 10;
// Responses being compressed at the same time; each has some 270 KB of zlib's memory until its
// client has read it. Further ones are sent uncompressed.
inline constexpr std::size_t compressions = 128;

// -- bodies -----------------------------------------------------------------------------------
// Apache's mod_reqtimeout (MinRate=500) with half of its initial time: a body must be complete
// after body_grace plus its size at that rate; otherwise 408.
inline constexpr std::chrono::milliseconds body_grace = 10s;
inline constexpr std::size_t body_bytes_per_second = 500;
// Limits of bodies received in several pieces, until their responses: in total, for a user, for an
// address; at least some bodies of the largest size. Then 429.
inline constexpr std::size_t bodies_bytes = 256u << 20;
inline constexpr std::size_t user_bodies_bytes = 64u << 20;
inline constexpr std::size_t address_bodies_bytes = 128u << 20;
inline constexpr std::size_t body_step_bytes = 16u << 10;
// Memory for a body of announced size is reserved up to this size, then it grows as it is received.
inline constexpr std::size_t body_reserve_bytes = 64u << 10;

// -- refusals ---------------------------------------------------------------------------------
// Limits of the audit log: one line of each kind per period, and this many lines a second.
inline constexpr std::chrono::milliseconds refusal_period = 10s;
inline constexpr int refusal_lines = 50;

// -- connections ------------------------------------------------------------------------------
inline constexpr std::size_t io_threads = 2;
// upstream: ReadHeaderTimeout.
inline constexpr std::chrono::milliseconds header_timeout = 32s;
// Go bounds TLS handshakes by the same time; its clients wait for ten seconds.
inline constexpr std::chrono::milliseconds handshake_timeout = 10s;
inline constexpr std::chrono::milliseconds idle_timeout = 5min;
// A peer that reads nothing for this long while data waits for it is disconnected.
inline constexpr std::chrono::milliseconds stall_timeout = 30s;
// The same for the reader of a log, a command, a port or a proxy, who may pause (upstream: the
// kubelet's WriteTimeout; the API server has none).
inline constexpr std::chrono::milliseconds pause_timeout = 4h;
// After the last byte of the response, input is discarded for this long and up to this size.
inline constexpr std::chrono::milliseconds linger_timeout = 1s;
inline constexpr std::size_t linger_bytes = 16u << 20;
// The time for pending responses when the server stops.
inline constexpr std::chrono::milliseconds drain_timeout = 1s;
inline constexpr std::size_t connections = 16'384;
// Unauthenticated connections: half of all, and at most this many from one address (an IPv6 /64
// network counts as one); the oldest idle one is closed for a new one.
inline constexpr std::size_t unauthenticated_part = 2;
inline constexpr std::size_t unauthenticated_per_address = 1024;
// Reserved for the Unix socket: a sixteenth of all, at most this many.
inline constexpr std::size_t local_connections_part = 16;
inline constexpr std::size_t local_connections = 64;
// Accepted beyond the limit while unauthenticated connections are being closed.
inline constexpr std::size_t connections_overrun = 128;
// File descriptors reserved for other uses: store, logs, pipes of child processes.
inline constexpr std::size_t reserved_descriptors = 512;
inline constexpr int listen_backlog = 4096;
// The kernel detects dead peers of idle connections after 30 + 3 * 15 s.
inline constexpr int keepalive_idle_seconds = 30;
inline constexpr int keepalive_interval_seconds = 15;
inline constexpr int keepalive_probes = 3;

// -- buffers ----------------------------------------------------------------------------------
// The bytes waiting in a stream before write() returns false: some seconds of a busy watch.
inline constexpr std::size_t stream_buffer_bytes = 1u << 20;
// The same for all streams together, and the bytes that each may always have waiting.
inline constexpr std::size_t streams_bytes = 256u << 20;
inline constexpr std::size_t stream_least_bytes = 16u << 10;
inline constexpr std::size_t stream_overrun_factor = 4;
// The plain text of one TLS record.
inline constexpr std::size_t record_bytes = 16u << 10;
// Bytes passed to the kernel in one call; if it does not accept all, nothing more is encrypted.
inline constexpr std::size_t send_bytes = 128u << 10;
// The same while the peer reads slowly: this many bytes wait in encrypted
// form.
inline constexpr std::size_t blocked_send_bytes = 16u << 10;
// The bytes unsent in the kernel; more wait here, where all streams together are bounded. Otherwise
// 10,000 unread watches would fill the machine's memory for TCP (net.ipv4.tcp_mem), and no
// connection would make progress.
inline constexpr int unsent_bytes = 64 << 10;
// The bytes that a connection may write before the others of its thread have their turn: encrypted
// and sent in about a third of a millisecond.
inline constexpr std::size_t turn_bytes = 256u << 10;

// -- HTTP/2 -----------------------------------------------------------------------------------
// Go: http2 MaxConcurrentStreams.
inline constexpr std::uint32_t concurrent_streams = 250;
inline constexpr std::uint32_t stream_window_bytes = 256u << 10;
inline constexpr std::int32_t connection_window_bytes = 1 << 20;
// The streams that a client may reset before their response (CVE-2023-44487): a burst, and a rate
// per second. The figures of nghttp2's own limit.
inline constexpr double reset_burst = 1000;
inline constexpr double resets_per_second = 33;

// -- unauthenticated connections --------------------------------------------------------------
// A connection over TLS without a client certificate, until a request has authenticated it: the
// memory that it can occupy is below 64 KiB. Of the 20 KB of any connection, it has twice as much
// for requests and responses.
inline constexpr std::uint32_t unauthenticated_streams = 5;
// The largest tokens in practice, with groups in them, have about 10 KB.
inline constexpr std::size_t unauthenticated_header_bytes = 16u << 10;
// The bytes of an unread response that wait in encrypted form.
inline constexpr std::size_t unauthenticated_send_bytes = 4u << 10;
// Streams beyond the limit, of a client that does not know it yet: Go starts with 100.
inline constexpr std::size_t refused_streams = 100;
// Unsent replies to PING and SETTINGS; nghttp2 allows 1,000.
inline constexpr std::size_t waiting_acks = 64;

// The size of a file named by a user: a kubeconfig, a token, a scheduler configuration.
inline constexpr std::size_t named_file_bytes = 3u << 20;

// -- certificates -----------------------------------------------------------------------------
// kubeadm: ten years for the authority, one for certificates.
inline constexpr std::chrono::hours authority_lifetime = 24h * 3650;
inline constexpr std::chrono::hours certificate_lifetime = 24h * 365;
// The remaining part of its life; k3s renews at a similar point.
inline constexpr double renew_below = 0.3;
inline constexpr std::chrono::milliseconds renew_period = 1h;
// Addresses of this machine in the certificate of a server that listens on all of them.
inline constexpr std::size_t interface_addresses = 64;

}  // namespace troupe::server::defaults
