// The actor that adds up the pod capacity of all nodes, for the limit of pods in the cluster
// (capacity.hpp). It runs on every control plane that creates pods, not only on the leader.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "actors/core/informer.hpp"
#include "actors/write/capacity.hpp"

namespace troupe::actors {

class node_capacity : public informer {
 public:
  node_capacity(runtime::actor_ref watcher, std::shared_ptr<actors::capacity> capacity);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_nodes(const watch_events& m);

  const std::shared_ptr<actors::capacity> capacity_;
  std::map<std::string, std::uint64_t> takes_pods_;  // by node
  std::uint64_t all_ = 0;
};

}  // namespace troupe::actors
