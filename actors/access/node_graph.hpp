// The objects that the pods of each node use, which its kubelet may read. Updated like policy.hpp
// on the commit thread, before the change is visible.
//
// Thread safe. The lock is held only for lookups and counting; nothing waits while it is held.
// Memory: a counter for each node and object, at most one for each reference of a pod in the store.
//
// kubernetes: plugin/pkg/auth/authorizer/node, graph.go.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/text_map.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors::access {

class node_graph {
 public:
  // See persistence::state_index.
  void load(const persistence::snapshot& state);
  void take(const std::vector<persistence::change>& changes);

  // True if a pod bound to the node uses the object with this key: a ConfigMap, a Secret (its own
  // or that of a volume that it claims), a claim, or a ServiceAccount.
  bool uses(std::string_view node, std::string_view key) const;

  // The number of counted references, from nodes and from volumes' secrets.
  std::size_t size() const;

 private:
  using counts = text_map<std::size_t>;

  void change(const api::object_ptr& before, const api::object_ptr& now);
  void count(text_map<counts>& in, const std::string& from, const std::vector<std::string>& keys,
             bool more);

  mutable std::mutex mutex_;
  text_map<counts> used_;    // by node: pods, by key of what they use
  text_map<counts> claims_;  // by key of a secret: volumes, by key of their claim
};

}  // namespace troupe::actors::access
