// Writes refusals of requests and connections before any handler into the audit log, in a bounded
// number of lines.
//
// The first refusal of each kind (code, and user or address) is written at once; the next ones are
// counted for `defaults::refusal_period`, then one line has their number. Refusals from many
// addresses write at most `defaults::refusal_lines` a second, and the rest is counted as well.
// Thread safe; a refusal takes a short lock.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "server/fwd.hpp"

namespace troupe::server {

// Valid during the call.
struct refusal {
  // Null without a request: a failed handshake, too many connections.
  const server::request* request = nullptr;
  std::string_view peer;      // see connection_info::peer
  std::uint64_t address = 0;  // see address_of()
  int code = 0;               // of the response; 0: none
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
    std::string line;           // members of the first one's line, for the line with the count
  };

  bool may_write(clock::time_point now);
  void write_count(row& row);

  std::mutex mutex_;
  std::array<row, 256> rows_;
  clock::time_point second_;
  int written_ = 0;             // in that second
  std::uint64_t left_out_ = 0;  // refusals without a row and a line
};

}  // namespace troupe::server
