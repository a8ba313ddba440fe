// The constants of a store over a shared log and their sources.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::persistence::defaults {

using namespace std::chrono_literals;

// Transactions sent to the log at the same time: more would only wait there (etcd commits all
// outstanding ones together; above 256 its rate does not grow).
inline constexpr std::size_t log_window = 256;
// Steps that are applied at once: with more, the first ones would be answered late.
inline constexpr std::size_t step_batch = 256;
inline constexpr std::size_t step_batch_bytes = 4u << 20;
// etcd's default limit is 128 operations in a transaction; the session, the fence, the cause
// and the serial group take some of them.
inline constexpr std::size_t log_transaction_limit = 120;
// Each control plane has at most this number of keys for serial groups.
inline constexpr std::uint32_t log_group_folders = 64;
// The retry back-off after a failure of the log or of the local disk.
inline constexpr auto log_retry_first = 50ms;
inline constexpr auto log_retry_limit = 2s;
// The same for the session, which transactions with unknown outcome wait for, for barriers, for
// renewals, and for a candidate's key: short against log_answer_limit and a leader's lease.
inline constexpr auto log_session_retry_limit = 800ms;
// A client that waits longer than this gets `unknown`: etcd gives up a proposal after 5 s and two
// elections.
inline constexpr auto log_answer_limit = 7s;
// The period for checking pending work. Steps that are known to exist but do not arrive within it
// are requested in another way.
inline constexpr auto log_check_period = 1s;
// The number of objects that an error of the audit names.
inline constexpr std::size_t audit_examples = 10;
// The log is reported as unreachable after this time: longer than an election of
// etcd.
inline constexpr auto log_silence_limit = 3s;
// Values of 1.5 MiB times queue_limit transactions would be 30 GB: bytes are bounded too.
inline constexpr std::size_t log_queue_bytes = 256u << 20;

// A lease is renewed each 1/n of its time to live. If that fails for the rest of the time, the
// leader steps down. Within that rest a member that does not answer is left for another one: it has
// 1/renewal_part of the time to live.
inline constexpr int lease_part = 3;
inline constexpr int renewal_part = 4;

// kubernetes: apiserver/pkg/storage/etcd3/lease_manager.go: a lease is given to new objects for
// 1/20 of their time to live, at most a minute, and to no more than 1,000 of them: that many go at
// once.
inline constexpr int lease_share_part = 20;
inline constexpr auto lease_share_limit = 60s;
inline constexpr std::size_t lease_objects = 1'000;
// Leases that a transaction is sent with, one after the other, when they end before their time.
inline constexpr int lease_attempts = 3;

// The retry period at start while the log does not answer.
inline constexpr auto log_wait_period = 1s;
// The jump of revisions after a restore: more than were lost since the backup, so that no client
// has seen the new ones (etcd's own recommendation for `--bump-revision`).
inline constexpr std::uint64_t restore_gap = 1'000'000'000;
// Each control plane that starts at the same time writes the cluster record at most once.
inline constexpr int record_attempts = 100;

// The number of ignored key prefixes that a log line counts separately.
inline constexpr std::size_t foreign_places = 20;

}  // namespace troupe::persistence::defaults
