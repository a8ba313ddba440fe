// Detects that a shared log was restored from a backup: its history is that of the state here only
// up to the backup. (etcd's number of the cluster is a hash of addresses and a token, and may be
// the same afterwards.)
//
// - The log is behind the state here: a new write has a revision that is known here.
// - The log has passed the state here, with other transactions: the last one here (the anchor) is
//   not that of the key `/troupe/cause` at its revision.
// - Another control plane has detected it, and raised the base in the cluster's record.
//
// Not detected where the log has passed the state here and dropped that history (the state is then
// read as a whole), or by a control plane that has no state.
#pragma once

#include <chrono>
#include <string>

#include "persistence/replica/log_record.hpp"
#include "persistence/store/store.hpp"

namespace troupe::persistence {

// The last transaction of a control plane in a state.
struct log_anchor {
  revision at = 0;  // 0: not known
  std::chrono::system_clock::time_point time;

  // Whether the log has it. The page is of revision `at`, and begins with the keys below
  // `own_prefix`.
  bool is_in(const log_page& page) const;
};

// Of a store on disk: known if its newest revision is a transaction with an author.
log_anchor anchor_of(const store& here);

// True if the step writes the cluster's record with another identity.
bool is_restored(const log_step& step, const std::string& identity);

}  // namespace troupe::persistence
