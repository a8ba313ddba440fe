// The current roles and bindings for authorization. The commit thread publishes the index with a
// change before the change is visible, so a request is authorized by a state at least as new as
// anything that was read before the request was sent.
//
// Thread safe; authorization takes no lock and never waits.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "actors/access/policy_index.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors::access {

class policy {
 public:
  policy();

  // Never null. Use one index for all checks of a request.
  std::shared_ptr<const policy_index> now() const { return index_.load(std::memory_order_acquire); }

  // See persistence::state_index.
  void load(const persistence::snapshot& state);
  void take(const std::vector<persistence::change>& changes);

 private:
  std::atomic<std::shared_ptr<const policy_index>> index_;
};

}  // namespace troupe::actors::access
