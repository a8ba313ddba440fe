// The roles and bindings in force, for whoever judges requests. Kept by the commits themselves: the
// index with a change is published before the change is visible, on the commit thread. So a request
// is judged by a state at least as new as all that anybody had read before it was sent.
//
// Thread safe; judging takes no lock and waits for nobody.
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

  // Never null. What is judged by it should be judged by one and the same.
  std::shared_ptr<const policy_index> now() const { return index_.load(std::memory_order_acquire); }

  // As persistence::state_index says.
  void load(const persistence::snapshot& state);
  void take(const std::vector<persistence::change>& changes);

 private:
  std::atomic<std::shared_ptr<const policy_index>> index_;
};

}  // namespace troupe::actors::access
