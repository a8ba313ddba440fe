// A workload in a simulated cluster whose kubelets and messages advance step by step, for scenarios
// that check the workload's guarantees at each revision.
#pragma once

#include <chrono>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/cluster.hpp"
#include "support/nodes.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

// T: a kind of apps/v1 with a pod template. The nodes exist before the workload.
template <class T>
class workload_stage {
 public:
  workload_stage(std::uint64_t seed, const std::vector<std::string>& nodes, const T& wanted,
                 cluster_options options)
      : c{seed, options}, random_{seed}, name_{wanted.metadata().name()} {
    for (const auto& node : nodes)
      add(node);
    c.create(wanted);
  }

  void add(const std::string& node) {
    add_node(c, node);
    nodes_.push_back(node);
  }
  T now() const { return c.get<T>("default", name_); }
  template <class F>
  void edit(F change) {
    c.change<T>("default", name_, change);
  }
  void image(const std::string& image) {
    edit([&](T& workload) {
      workload.mutable_spec()
          ->mutable_template_()
          ->mutable_spec()
          ->mutable_containers(0)
          ->set_image(image);
    });
  }
  void scale(int replicas) {
    edit([&](T& workload) { workload.mutable_spec()->set_replicas(replicas); });
  }

  cluster c;

 protected:
  // Runs kubelets for a second, except for pods for which `spare` is true; calls `look` after each
  // message.
  template <class Spare, class Look>
  void pass_second(Spare spare, Look look) {
    for (const auto& node : nodes_)
      renew_lease(c, node);
    run_kubelets(c, spare);
    look();
    while (c.simulation().step())
      look();
    c.advance(std::chrono::seconds{1});
    look();
  }
  // Whether the state has changed since the last call.
  bool is_new(const persistence::snapshot& state) {
    return std::exchange(seen_, state.at()) != state.at();
  }

  std::mt19937_64 random_;
  persistence::revision seen_ = 0;

 private:
  const std::string name_;
  std::vector<std::string> nodes_;
};

}  // namespace troupe::test
