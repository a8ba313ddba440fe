#include "support/nodes.hpp"

#include <algorithm>

#include "actors/core/condition.hpp"
#include "api/schema/coordination_v1.pb.h"

namespace troupe::test {

using api::coordination::v1::Lease;
using api::core::v1::Node;
using api::core::v1::Pod;

Pod pod_named(const std::string& name, const std::string& node) {
  Pod pod;
  pod.mutable_metadata()->set_name(name);
  pod.mutable_metadata()->set_namespace_("default");
  auto& container = *pod.mutable_spec()->add_containers();
  container.set_name("main");
  container.set_image("example:1");
  if (!node.empty()) pod.mutable_spec()->set_node_name(node);
  return pod;
}

void post_ready(cluster& c, const std::string& node, const std::string& status) {
  c.change<Node>({}, node, [&](Node& n) {
    auto& conditions = *n.mutable_status()->mutable_conditions();
    actors::set_condition(conditions, {"Ready", status, "KubeletReady", "posted by the test"},
                          c.now());
    actors::find_condition(conditions, "Ready")
        ->mutable_last_heartbeat_time()
        ->set_seconds(actors::seconds_of(c.now()));
  });
  c.settle();
}

api::object_ptr add_node(cluster& c, const std::string& name) {
  Node node;
  node.mutable_metadata()->set_name(name);
  c.create(node);
  c.change<Node>({}, name, [&](Node& n) {
    for (const char* resource : {"cpu", "memory", "pods"}) {
      const char* amount = std::string{resource} == "memory" ? "64Gi" : "1000";
      (*n.mutable_status()->mutable_allocatable())[resource].set_string(amount);
      (*n.mutable_status()->mutable_capacity())[resource].set_string(amount);
    }
  });
  post_ready(c, name, "True");
  return c.find<Node>({}, name);
}

void renew_lease(cluster& c, const std::string& node) {
  constexpr const char* ns = "kube-node-lease";
  const auto stamp = [&](Lease& lease) {
    lease.mutable_spec()->mutable_renew_time()->set_seconds(actors::seconds_of(c.now()));
  };
  if (c.find<Lease>(ns, node)) {
    c.change<Lease>(ns, node, stamp);
  } else {
    Lease lease;
    lease.mutable_metadata()->set_name(node);
    lease.mutable_metadata()->set_namespace_(ns);
    stamp(lease);
    c.create(lease);
  }
  c.settle();
}

void keep_alive(cluster& c, const std::vector<std::string>& nodes, std::chrono::seconds length) {
  while (length.count() > 0) {
    for (const auto& node : nodes)
      renew_lease(c, node);
    const auto step = std::min(length, std::chrono::seconds{10});
    c.advance(step);
    length -= step;
  }
}

}  // namespace troupe::test
