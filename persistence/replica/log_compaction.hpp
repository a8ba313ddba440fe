// Compaction of the shared log by the leading control plane, as upstream's API server does it: each
// `interval` it drops the history that was already one interval old. So a change stays for one to
// two intervals. A control plane that was away for less time resumes from its state; one that was
// away for longer reads the whole state.
//
// Runs on the thread of the log.
#pragma once

#include <chrono>

#include "persistence/replica/shared_log.hpp"

namespace troupe::persistence {

class log_compaction {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  // 0: never compacts.
  log_compaction(shared_log& log, std::chrono::seconds interval);

  // Called periodically with the newest known revision and whether this control plane leads.
  void check(time_point now, revision newest, bool leads);

 private:
  shared_log& log_;
  const std::chrono::seconds interval_;
  revision next_ = 0;  // the revision to compact to, one interval after `since_`; 0: does not lead
  time_point since_;
};

}  // namespace troupe::persistence
