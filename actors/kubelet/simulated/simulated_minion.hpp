// A simulated node: pods that are bound to it run at once, unless their annotations say
// otherwise. Thousands of them fit into one process, for scale tests and for trying manifests
// without images.
//
// One actor for each node. It writes the status of each pod in one transaction and does not store
// pods: a write that conflicts with a newer state is dropped, because that state is about to
// arrive. It keeps only pods that were marked not ready by others, until the node is ready again;
// pods whose write failed, until it is retried; timers of pods that change with time: by
// activeDeadlineSeconds, or by their annotations and the policy (pod_behavior.hpp); and the
// addresses in use. While it is down, by its own annotations and the policy (node_behavior.hpp),
// events are kept until it returns. No pod starts before the addresses of all pods are known.
#pragma once

#include <map>
#include <string>

#include "actors/core/core_actors.hpp"
#include "actors/kubelet/node/node_agent.hpp"
#include "actors/kubelet/simulated/address_pool.hpp"
#include "actors/kubelet/simulated/pod_behavior.hpp"

namespace troupe::actors {

struct simulated_node {
  std::string name = "simulated-0";
  std::uint32_t number = 0;  // determines its addresses
  std::int64_t cpus = 32;
  std::int64_t memory_bytes = std::int64_t{256} << 30;
  std::int64_t pods = 110;  // kubernetes: kubelet's maxPods
  std::string version;      // status.nodeInfo.kubeletVersion
  node_timing timing;
  simulated::policy_ptr policy;
};

class simulated_minion : public node_agent {
 public:
  simulated_minion(simulated_node node, core_actors to);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_pods(const watch_events& m);
  void keep_address(const watch_event& event);
  void take_pod(const api::object_ptr& object);
  void end_pod(const api::object_ptr& object);
  bool behave(const api::object_ptr& object, const pod_behavior& behavior);
  void wake_at(const api::object_ptr& object, runtime::wall_time at);
  simulated_addresses next_addresses();
  void node_changed() override;
  bool is_silent() const override { return down_; }
  void follow_state();
  void write_pod(const api::object_ptr& before, std::unique_ptr<api::body> after);
  void write_failed(const api::kind_info& kind, const api::object_ptr& before) override;
  void try_again();
  void describe_node(api::core::v1::Node& node) const override;
  std::string address(int last) const;
  int last_byte_of(const api::core::v1::Pod& pod) const;

  const simulated_node like_;
  std::map<std::string, api::object_ptr> not_ready_;      // running pods, by key
  std::map<std::string, api::object_ptr> failed_;         // to be retried, by key
  std::map<std::string, persistence::revision> written_;  // revision, until its event arrives
  struct due {
    runtime::wall_time at;
    runtime::timer timer;
  };
  std::map<std::string, due> timers_;  // of pods that will change with time, by key
  runtime::timer again_, state_;
  bool down_ = false;
  address_pool addresses_;
  bool addresses_known_ = false;  // those of all pods of the initial state
  std::uint64_t started_pods_ = 0, ended_pods_ = 0;
};

}  // namespace troupe::actors
