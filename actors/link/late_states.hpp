// Whether the state by which a node is refused for good is new enough: a node that was removed ends
// its pods. A store that follows one elsewhere may lag; there a node is asked to call again, and
// its next call is judged behind a barrier. Thread safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "persistence/store/store.hpp"

namespace troupe::actors {

class late_states {
 public:
  // Of a node that would be refused. True: what the store shows now is new enough to judge it by.
  // False: it must call again.
  bool counts(persistence::store& store, const std::string& node);

 private:
  // Shared with what the store calls.
  struct calls {
    std::mutex mutex;
    std::map<std::string, bool> passed;  // by node; false: its barrier is under way
  };
  const std::shared_ptr<calls> calls_ = std::make_shared<calls>();
};

}  // namespace troupe::actors
