// The options of a store: its directory, and how much history it keeps.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "persistence/error.hpp"

namespace troupe::persistence {

struct store_options {
  std::string directory;  // empty: in memory, for tests and simulations
  // The log keeps at least this many revisions, and at least this long, ...
  revision history_revisions = 100'000;
  std::chrono::seconds history_time{600};
  // ... but never more bytes than this, or than its part of the disk (disk_space.hpp).
  std::uint64_t log_limit_bytes = 512ull << 20;
  std::size_t queue_limit = 20'000;  // transactions waiting
  std::size_t batch_limit = 512;     // transactions in one fsync
  std::size_t value_limit_bytes = 3u << 20;
  // False: no threads; submit() commits on the caller's thread before it returns (simulations).
  // Transactions submitted in a completion or the observer are committed after it returns.
  bool threaded = true;
  // The clock for changes and pins; empty: the system clock. A simulation passes its own.
  std::function<std::chrono::system_clock::time_point()> wall_clock;
  // The id of a new cluster; empty: a random UUID.
  std::string cluster_id;
  // The store is a replica of a log that several control planes share. The log decides and makes
  // changes durable: all data here can be fetched again.
  bool replica = false;
  // The memory that this process may use; 0: the limit of its control groups.
  std::uint64_t memory_limit_bytes = 0;
};

}  // namespace troupe::persistence
