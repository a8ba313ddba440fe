// The roles and bindings in force, for whoever judges requests. Kept by the commits themselves: the
// index with a change is published before the client that made the change is told, on the commit
// thread. So a request is judged by a state at least as new as all that was acknowledged, to
// anybody, before it was sent.
//
// Thread safe; judging takes no lock and waits for nobody.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "actors/access/policy_index.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors::access {

class policy {
 public:
  policy();

  // Never null. What is judged by it should be judged by one and the same.
  std::shared_ptr<const policy_index> now() const { return index_.load(std::memory_order_acquire); }

  // All that the store has. `take` must be in force by then (store::observe).
  void load(const persistence::store& store);
  // Of the commit thread, before the changes are acknowledged.
  void take(const std::vector<persistence::change>& changes);

 private:
  std::atomic<std::shared_ptr<const policy_index>> index_;
  std::mutex changing_;  // load() while commits go on
  persistence::revision loaded_ = 0;
};

}  // namespace troupe::actors::access
