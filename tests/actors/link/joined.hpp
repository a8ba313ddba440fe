// A control plane and joined nodes in one simulation: each node has a gateway and a simulated
// minion, and a loopback link, which the test breaks and connects again.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "actors/link/node_gateway.hpp"
#include "runtime/link/link.hpp"
#include "support/cluster.hpp"
#include "support/link/loopback.hpp"

namespace troupe::test {

runtime::link::peer peer_of(const std::string& node);

class joined_cluster {
 public:
  explicit joined_cluster(std::uint64_t seed, cluster_options options = {});
  ~joined_cluster();

  cluster& plane() { return plane_; }

  // As at a join: creates its Node with the key that its link must present.
  void add(const std::string& node);
  // Starts its gateway and minion, without a connection.
  void start(const std::string& node, std::shared_ptr<actors::stream_source> streams = {});
  // The minion of a started node.
  void start_minion(const std::string& node);

  // Replaces an existing connection. Returns false if the control plane rejects it.
  bool connect(const std::string& node);
  void cut(const std::string& node);

  actors::core_actors core_actors_of(const std::string& node) const;
  // Answers request_token.
  const runtime::actor_ref& tokens_of(const std::string& node) const {
    return ends_.at(node).gateway;
  }
  // Why the node's last session ended, as its gateway was told.
  const std::string& ended(const std::string& node) const { return ends_.at(node).unlinked; }
  const std::string& node_removed(const std::string& node) const {
    return ends_.at(node).node_removed;
  }

 private:
  struct end {
    runtime::actor_ref gateway;
    loopback line;
    std::string unlinked, node_removed;
  };

  cluster plane_;
  std::map<std::string, end> ends_;
};

}  // namespace troupe::test
