// Decides whether a state is recent enough to reject a node for good: a node that was removed ends
// its pods. A follower's store may lag; there the node is asked to call again, and its next call is
// judged behind a barrier. Thread safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "persistence/store/store.hpp"

namespace troupe::actors {

class late_states {
 public:
  // For a node that would be rejected. True: the store's current state is recent enough. False: the
  // node must call again.
  bool counts(persistence::store& store, const std::string& node);

 private:
  // Shared with callbacks of the store.
  struct calls {
    std::mutex mutex;
    std::map<std::string, bool> passed;  // by node; false: its barrier is pending
  };
  const std::shared_ptr<calls> calls_ = std::make_shared<calls>();
};

}  // namespace troupe::actors
