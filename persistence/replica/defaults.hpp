// The constants of a store over a shared log and where they come from.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::persistence::defaults {

using namespace std::chrono_literals;

// Transactions that are on their way to the log: more would only wait there (etcd commits what is
// outstanding at once; above 256 its rate does not grow).
inline constexpr std::size_t log_window = 256;
// etcd takes 128 operations in a transaction when nobody says more; the session, the fence and the
// cause are among them.
inline constexpr std::size_t log_transaction_limit = 120;
// After a failure of the log, or of the disk here.
inline constexpr auto log_retry_first = 50ms;
inline constexpr auto log_retry_limit = 2s;
// A client that waits for a transaction longer than this is told that nobody knows: etcd gives up
// a proposal after 5 s and two elections.
inline constexpr auto log_answer_limit = 7s;

// A lease is renewed each 1/n of its time to live, and its leader stops when it has not been for
// the rest.
inline constexpr int lease_part = 3;

}  // namespace troupe::persistence::defaults
