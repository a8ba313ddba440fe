// Requests and connections that were refused before any handler saw them: lines in the audit log, a
// bounded number of them.
//
// Of each kind (code, and user or address) the first refusal is written at once and the next ones
// are counted for `defaults::refusal_period`; then one line says how many they were. A flood from
// many addresses writes `defaults::refusal_lines` a second, and the rest is counted as well. Thread
// safe; a refusal costs a short lock.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "server/fwd.hpp"

namespace troupe::server {

// Valid during the call that it is handed to.
struct refusal {
  // Null where there was no request: a handshake, a connection too many.
  const server::request* request = nullptr;
  std::string_view peer;      // as connection_info::peer
  std::uint64_t address = 0;  // as address_of()
  int code = 0;               // of the answer; 0: there was none
  std::string reason;         // as in a Status, such as "Unauthorized"
};

class refusal_log {
 public:
  using clock = std::chrono::steady_clock;

  void add(const refusal& refusal, clock::time_point now);
  // Writes what was counted and is due. Called from time to time.
  void flush(clock::time_point now);

 private:
  struct row {
    std::uint64_t key = 0;  // 0: free
    clock::time_point since;
    std::uint64_t counted = 0;  // after the first
    std::string line;           // members of the first one's, for the line that tells of the others
  };

  bool may_write(clock::time_point now);
  void tell_of(row& row);

  std::mutex mutex_;
  std::array<row, 256> rows_;
  clock::time_point second_;
  int written_ = 0;             // in that second
  std::uint64_t left_out_ = 0;  // of kinds that found no row and no line
};

}  // namespace troupe::server
