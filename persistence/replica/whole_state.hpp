// A state of the log that is read page by page, as the difference to the state that is here.
//
// For a replica that begins, or has missed more than the log keeps. Of one thread.
#pragma once

#include <vector>

#include "persistence/replica/log_record.hpp"
#include "persistence/tree/snapshot.hpp"

namespace troupe::persistence {

class whole_state {
 public:
  explicit whole_state(snapshot here) : here_{std::move(here)} {}

  // In order of key, all of one revision. Fails as read() of an item does.
  expected<void> add(log_page page);
  // The revision of the pages, 0 before the first.
  revision at() const noexcept { return at_; }
  const leader_change& leader() const noexcept { return leader_; }
  // What must be changed here; afterwards this is empty. Changes are in order of revision, those
  // that are removed at the end.
  decided_step difference();

 private:
  void remove_before(std::string_view key);

  const snapshot here_;
  revision at_ = 0;
  leader_change leader_;
  std::string last_;  // keys up to here were compared
  std::vector<decided_change> changed_, removed_;
};

}  // namespace troupe::persistence
