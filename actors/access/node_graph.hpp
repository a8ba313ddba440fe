// Which objects the pods of each node use: what its kubelet may read. Kept by the commits, as
// policy.hpp is: published before the change is visible, on the commit thread.
//
// Thread safe. Its lock is held for look-ups and counting alone, nothing waits while it is held. It
// keeps a number for each node and object: no more than the pods in the store refer to.
//
// kubernetes: plugin/pkg/auth/authorizer/node, graph.go.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "persistence/store/store.hpp"

namespace troupe::actors::access {

class node_graph {
 public:
  // As persistence::state_index says.
  void load(const persistence::snapshot& state);
  void take(const std::vector<persistence::change>& changes);

  // Whether a pod that is bound to the node uses the object with this key: a config map, a secret
  // (its own or that of a volume that it claims), a claim, or a service account.
  bool uses(std::string_view node, std::string_view key) const;

  // Pairs of a node or a secret of volumes and what it refers to.
  std::size_t size() const;

 private:
  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  template <class Value>
  using text_map = std::unordered_map<std::string, Value, text_hash, std::equal_to<>>;
  using counts = text_map<std::size_t>;

  void change(const api::object_ptr& before, const api::object_ptr& now);
  void count(text_map<counts>& in, const std::string& from, const std::vector<std::string>& keys,
             bool more);

  mutable std::mutex mutex_;
  text_map<counts> used_;    // by node: pods, by key of what they use
  text_map<counts> claims_;  // by key of a secret: volumes, by key of their claim
};

}  // namespace troupe::actors::access
