// The constants of a store over a shared log and where they come from.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::persistence::defaults {

using namespace std::chrono_literals;

// Transactions that are on their way to the log: more would only wait there (etcd commits what is
// outstanding at once; above 256 its rate does not grow).
inline constexpr std::size_t log_window = 256;
// Steps that are applied at once: more would only make those wait that come first.
inline constexpr std::size_t step_batch = 256;
inline constexpr std::size_t step_batch_bytes = 4u << 20;
// etcd takes 128 operations in a transaction when nobody says more; the session, the fence and the
// cause are among them.
inline constexpr std::size_t log_transaction_limit = 120;
// After a failure of the log, or of the disk here.
inline constexpr auto log_retry_first = 50ms;
inline constexpr auto log_retry_limit = 2s;
// A client that waits for a transaction longer than this is told that nobody knows: etcd gives up
// a proposal after 5 s and two elections.
inline constexpr auto log_answer_limit = 7s;
// How often what waits is looked at; steps that are known to exist and do not come in this time are
// asked for in another way.
inline constexpr auto log_look_period = 1s;
// A log that has not answered for so long is said to be away: longer than etcd elects.
inline constexpr auto log_silence_limit = 3s;
// Values of 1.5 MiB times as many transactions as may wait would be 30 GB: bytes are bounded too.
inline constexpr std::size_t log_queue_bytes = 256u << 20;

// A lease is renewed each 1/n of its time to live, and its leader stops when it has not been for
// the rest.
inline constexpr int lease_part = 3;

// kubernetes: apiserver/pkg/storage/etcd3/lease_manager.go: a lease is given to new objects for
// 1/20 of their time to live, at most a minute, and to no more than 1,000 of them: that many go at
// once.
inline constexpr int lease_share_part = 20;
inline constexpr auto lease_share_limit = 60s;
inline constexpr std::size_t lease_objects = 1'000;
// Leases that a transaction is sent with, one after the other, when they end before their time.
inline constexpr int lease_attempts = 3;

// How long a start waits between questions to a log that does not answer.
inline constexpr auto log_wait_period = 1s;
// By how much revisions go on after a restore: more than were lost since the backup, for anybody
// who had seen them (etcd's own recommendation for `--bump-revision`).
inline constexpr std::uint64_t restore_gap = 1'000'000'000;
// Of control planes that start at once, each writes the record of the cluster at most once.
inline constexpr int record_attempts = 100;

// Places of keys that are left alone, as far as they are counted apart: for a line of the log.
inline constexpr std::size_t foreign_places = 20;

}  // namespace troupe::persistence::defaults
