// Reads a state of the log page by page and computes the difference to the local state.
//
// For a new replica, or one that has missed more than the log keeps. Used by one thread.
#pragma once

#include <string>
#include <vector>

#include "persistence/replica/log_record.hpp"
#include "persistence/replica/restored_log.hpp"
#include "persistence/tree/snapshot.hpp"

namespace troupe::persistence {

class whole_state {
 public:
  explicit whole_state(snapshot here) : here_{std::move(here)} {}

  // Pages in order of key, all of one revision. Fails as read() of an item does.
  expected<void> add(log_page page);
  // The revision of the pages, 0 before the first.
  revision at() const noexcept { return at_; }
  const leader_record& leader() const noexcept { return leader_; }
  // The last transaction of a control plane.
  const log_anchor& anchor() const noexcept { return anchor_; }
  // True if the cluster's record has another identity.
  bool is_restored(const std::string& identity) const {
    return !identity_.empty() && identity_ != identity;
  }
  // The changes to apply here; afterwards this object is empty. They are in order of revision,
  // removals at the end.
  decided_step difference();

 private:
  void remove_before(std::string_view key);

  const snapshot here_;
  revision at_ = 0;
  leader_record leader_;
  log_anchor anchor_;
  std::string identity_;
  std::string last_;  // keys up to this one have been compared
  std::vector<decided_change> changed_, removed_;
};

}  // namespace troupe::persistence
