// Snapshots that a client will read again: the pages of a list.
//
// Thread safe. A pin keeps old objects in memory, so pins are limited in time and
// number.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>

#include "persistence/tree/snapshot.hpp"

namespace troupe::persistence {

class pin_set {
 public:
  using time_point = std::chrono::system_clock::time_point;

  // Pinning again restarts the time.
  void pin(const snapshot& state, time_point now) { keep(state, now, false); }
  // The same for a state that was rebuilt from the log: at most `defaults::rebuilt_limit` are kept.
  void pin_rebuilt(const snapshot& state, time_point now) { keep(state, now, true); }
  std::optional<snapshot> find(revision at, time_point now) const;
  void expire(time_point now);

 private:
  struct pinned {
    snapshot state;
    time_point until;
    bool rebuilt;
  };

  void keep(const snapshot& state, time_point now, bool rebuilt);

  mutable std::mutex mutex_;
  std::map<revision, pinned> pins_;
};

}  // namespace troupe::persistence
