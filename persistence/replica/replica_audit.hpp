// Compares a replica with its log, page by page: the keys of the objects, and the revisions of
// their last changes. It detects a change that the log has committed and its stream did not
// deliver, of a revision whose other changes arrived.
//
// A page of the log's keys is read at the revision of a snapshot, which is kept until the page
// arrives. So writes that are under way make no difference. Used by the log's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "persistence/replica/shared_log.hpp"
#include "persistence/tree/snapshot.hpp"

namespace troupe::persistence {

struct audit_result {
  std::size_t differences = 0;        // objects that differ
  std::vector<std::string> examples;  // at most defaults::audit_examples, as text
};

// Compares the objects with keys greater than `after`, up to the last key of the page, or all of
// them if it is the last page. Ignores keys of the log that belong to no kind known here.
audit_result compare_page(const snapshot& here, std::string_view after, const log_page& page);

class replica_audit {
 public:
  using report = std::function<void(const audit_result& found)>;

  // Compares the next page with `here`, the state at the log's revision `at`; after the last page
  // it begins again. Does nothing while a page is under way; one that cannot be read is requested
  // again by the next call. Calls `differ` if objects differ.
  void check(shared_log& log, snapshot here, revision at, report differ);

 private:
  std::string after_;  // keys up to this one have been compared
  bool asking_ = false;
};

}  // namespace troupe::persistence
