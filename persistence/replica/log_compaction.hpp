// The control plane that leads drops what the log no longer needs, as upstream's API server does:
// each `interval` all that was already past one interval ago. So each change stays for one to two
// of them: a control plane that was away for less goes on from where it was, one that was away for
// longer reads the whole state.
//
// Of the thread of the log.
#pragma once

#include <chrono>

#include "persistence/replica/shared_log.hpp"

namespace troupe::persistence {

class log_compaction {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  // 0: never.
  log_compaction(shared_log& log, std::chrono::seconds interval);

  // From time to time: the newest revision that is known, and whether this control plane leads.
  void look(time_point now, revision newest, bool leads);

 private:
  shared_log& log_;
  const std::chrono::seconds interval_;
  revision next_ = 0;  // what is past in one interval from `since_` on; 0: does not lead
  time_point since_;
};

}  // namespace troupe::persistence
