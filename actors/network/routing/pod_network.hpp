// Keeps the network of this node's pods as the Nodes of the cluster say: their addresses, and the
// routes to pods of other machines. One actor a node.
//
// It owns what the Nodes say, and hands all of it on, once at a time: what there is to change is
// found there, so that nothing has to be remembered over a crash. After a failure it tries again;
// it looks again once in a while, for links come and go. All stays when the program stops.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "actors/core/informer.hpp"
#include "actors/network/routing/node_ranges.hpp"

namespace troupe::actors::routing {

// Makes this machine so on a thread of its own and calls `done` there, with the problems.
using make_network =
    std::function<void(node_ranges wanted, std::function<void(std::vector<std::string>)> done)>;

struct pod_network_options {
  std::string node;
  std::vector<api::cidr> cluster;
  make_network make;
};

class pod_network : public informer {
 public:
  pod_network(runtime::actor_ref watcher, pod_network_options options);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct made {
    std::vector<std::string> problems;
  };

  void on_nodes(const watch_events& m);
  void on_made(const made& m);
  void make_soon();
  void make();

  const pod_network_options options_;
  std::map<std::string, api::object_ptr> nodes_;  // by name
  node_ranges asked_;                             // the last that was handed on
  bool renew_ = true, making_ = false;
  runtime::duration pause_{0};  // before the next attempt; 0: the last one succeeded
  std::vector<std::string> problems_;
  runtime::timer soon_, retry_, renewal_;
};

}  // namespace troupe::actors::routing
