// A node that only pretends: what is bound to it runs at once, unless its annotations say
// otherwise. Thousands of them fit into one process, for work on scale and for trying manifests
// without images.
//
// One actor for each node. It writes the status of its pods by one transaction each and keeps
// nothing of them: a write that meets a newer state is dropped, as that state is on its way here.
// Only pods that somebody else called not ready are remembered, until the node is ready again,
// those whose write failed, until it is made again, and the timers of those that time will change:
// by activeDeadlineSeconds, or by their annotations and the policy (pod_behavior.hpp). While it
// is down, as its own annotations and the policy may say (node_behavior.hpp), what comes is kept
// for when it returns.
#pragma once

#include <map>
#include <string>

#include "actors/core/core_actors.hpp"
#include "actors/kubelet/node/node_agent.hpp"
#include "actors/kubelet/simulated/pod_behavior.hpp"

namespace troupe::actors {

struct simulated_node {
  std::string name = "simulated-0";
  std::uint32_t number = 0;  // decides its addresses
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

  const simulated_node like_;
  std::map<std::string, api::object_ptr> not_ready_;      // running pods, by key
  std::map<std::string, api::object_ptr> failed_;         // to be written again, by key
  std::map<std::string, persistence::revision> written_;  // over what, until the change comes
  struct due {
    runtime::wall_time at;
    runtime::timer timer;
  };
  std::map<std::string, due> timers_;  // of pods that will change with time, by key
  runtime::timer again_, state_;
  bool down_ = false;
  std::uint32_t next_address_ = 0;
  std::uint64_t started_pods_ = 0, ended_pods_ = 0;
};

}  // namespace troupe::actors
