// A node that only pretends: whatever is bound to it runs at once and ends at once. Thousands of
// them fit into one process, for work on scale and for trying manifests without images.
//
// One actor for each node. It registers its Node and Lease, renews the lease, and writes the status
// of its pods by one transaction each. It keeps nothing but the newest state of its own three
// streams, and a write that meets a newer state is dropped: that state is on its way here.
#pragma once

#include <string>

#include "actors/control_plane.hpp"
#include "actors/follower.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

struct simulated_node {
  std::string name = "simulated-0";
  std::uint32_t number = 0;  // decides its addresses
  std::int64_t cpus = 32;
  std::int64_t memory_bytes = std::int64_t{256} << 30;
  std::int64_t pods = 110;  // kubernetes: kubelet's maxPods
  std::string version;      // status.nodeInfo.kubeletVersion
};

class simulated_minion : public follower {
 public:
  simulated_minion(simulated_node node, doors to);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_pods(const watch_events& m);
  void on_node(const watch_events& m);
  void on_lease(const watch_events& m);
  void renew_lease();

  // Writes `content` over `before`, or anew where that is null.
  void write(const api::kind_info& kind, const api::object_ptr& before,
             std::unique_ptr<api::body> content);
  void remove(const api::object_ptr& object);
  std::string address(int last) const;

  const simulated_node node_;
  const doors to_;
  api::object_ptr node_object_, lease_;
  bool lease_known_ = false;
  runtime::timer first_renewal_, renewal_;
  std::uint32_t next_address_ = 0;
  std::uint64_t started_pods_ = 0, ended_pods_ = 0;
};

}  // namespace troupe::actors
