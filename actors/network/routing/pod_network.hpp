// Configures the network of this node's pods from the Nodes of the cluster: addresses for pods, and
// routes to the pods of other machines. One actor per node.
//
// It owns the ranges read from the Nodes and passes on the whole state, one run at a time: the run
// finds the difference, so that nothing has to survive a crash. A failed run is retried, and runs
// are repeated periodically, because links come and go. The network stays when the program stops.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/core/informer.hpp"
#include "actors/network/routing/machine_network.hpp"

namespace troupe::actors::routing {

// Configures this machine on another thread and calls `done` there.
using make_network =
    std::function<void(node_ranges wanted, std::function<void(made_network)> done)>;

struct pod_network_options {
  std::string node;
  std::vector<api::cidr> cluster;
  make_network make;
  // Called after each run with the problems of this machine, in one line; empty: there are none, or
  // another program provides the network.
  std::function<void(std::string problem)> report = [](const auto&) {};
};

class pod_network : public informer {
 public:
  pod_network(runtime::actor_ref watcher, pod_network_options options);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  // Identifies a run: answers that are late, or from before a restart of this actor, are ignored.
  struct run {};
  using run_ref = std::shared_ptr<const run>;
  struct made {
    run_ref of;
    made_network network;
  };

  void on_nodes(const watch_events& m);
  void on_made(const made& m);
  void schedule_make();
  void make();
  void end_run(const made_network& network);

  const pod_network_options options_;
  std::map<std::string, api::object_ptr> nodes_;  // by name
  node_ranges asked_;                             // the last ranges passed on
  bool renew_ = true;
  run_ref running_;
  runtime::duration pause_{0};  // before the next attempt; 0: the last one succeeded
  std::vector<std::string> problems_;
  runtime::timer soon_, retry_, renewal_, limit_;
};

}  // namespace troupe::actors::routing
