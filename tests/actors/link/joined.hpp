// A control plane and joined nodes in one simulation: each node has a gateway and a simulated
// minion, and a loopback instead of a connection, which the test cuts and restores.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "actors/link/node_gateway.hpp"
#include "runtime/link/link.hpp"
#include "support/cluster.hpp"

namespace troupe::test {

runtime::link::peer peer_of(const std::string& node);

class joined_cluster {
 public:
  explicit joined_cluster(std::uint64_t seed, cluster_options options = {});
  ~joined_cluster();

  cluster& plane() { return plane_; }

  // Creates the Node of a joining machine, with the key that its link must present.
  void add(const std::string& node);
  // Starts its gateway and the actors behind it, without a connection.
  void start(const std::string& node, std::shared_ptr<actors::stream_source> streams = {});
  // Starts the minion of a node that was started.
  void start_minion(const std::string& node);

  // Replaces an existing connection. False if the control plane refuses.
  bool connect(const std::string& node);
  void cut(const std::string& node);

  actors::core_actors core_actors_of(const std::string& node) const;
  // Accepts request_token.
  const runtime::actor_ref& tokens_of(const std::string& node) const {
    return ends_.at(node).gateway;
  }
  // The reason why the last session of the node ended, as reported to its gateway.
  const std::string& ended(const std::string& node) const { return ends_.at(node).unlinked; }
  const std::string& expelled(const std::string& node) const { return ends_.at(node).expelled; }

 private:
  struct end {
    runtime::actor_ref gateway;
    runtime::link::loopback line;
    std::string unlinked, expelled;
  };

  cluster plane_;
  std::map<std::string, end> ends_;
};

}  // namespace troupe::test
