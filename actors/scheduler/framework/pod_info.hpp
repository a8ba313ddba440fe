// The scheduler's view of a pod: its compiled constraints, computed once for each state of the pod.
// Immutable, shared between the queue and the cluster view.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/scheduler/framework/resources.hpp"
#include "api/object/object.hpp"
#include "api/selectors/selector.hpp"

namespace troupe::api::core::v1 {
class NodeSelector;
}

namespace troupe::actors::scheduler {

class cluster_view;

struct host_port {
  std::int32_t port = 0;
  std::string protocol;  // "TCP"
  std::string ip;        // empty: all addresses

  // True if pods with these ports cannot share a node.
  bool conflicts(const host_port& other) const;
};

// A compiled nodeSelectorTerm: all its requirements must hold.
struct node_term {
  std::vector<api::label_requirement> labels;
  std::vector<std::pair<std::string, bool>> names;  // metadata.name must (not) equal the string
  bool never = false;                               // an empty term matches nothing

  bool matches(const std::string& node, const api::label_map& labels_of_node) const;
};

// One of the terms must match; an empty list matches nothing.
std::vector<node_term> read_node_terms(const api::core::v1::NodeSelector& selector);
// A compiled nodeAffinity.
struct node_preferences {
  bool has_required = false;
  std::vector<node_term> required;  // one of the terms must match
  std::vector<std::pair<std::int32_t, node_term>> preferred;

  bool admits(const std::string& node, const api::label_map& labels_of_node) const;
};
node_preferences read_node_affinity(const api::core::v1::NodeAffinity& from);

// A compiled podAffinityTerm.
struct affinity_term {
  api::label_selector selector;
  std::vector<std::string> namespaces;                        // sorted
  std::optional<api::label_selector> by_labels_of_namespace;  // additional namespaces
  std::string topology_key;
  std::int32_t weight = 0;  // of preferred terms

  bool matches(const api::object& pod, const cluster_view& view) const;
};

struct spread_constraint {
  std::int32_t max_skew = 1;
  std::string topology_key;
  bool hard = true;  // DoNotSchedule
  api::label_selector selector;
  std::int32_t min_domains = 1;
  // Nodes that the pod's node affinity excludes, or whose taints it does not tolerate, are not
  // counted.
  bool honors_affinity = true, honors_taints = false;
};
// A configured default for pods without constraints; it has no selector.
spread_constraint read_default_constraint(const api::core::v1::TopologySpreadConstraint& from);

struct pod_info {
  api::object_ptr pod;
  std::string key;
  std::uint64_t request = 0;    // of the client that caused this state; 0: unknown
  std::string_view controller;  // uid; empty: none
  std::int32_t priority = 0;
  resources requests;
  resources scoring_requests;
  std::vector<host_port> ports;

  // Node affinity: nodeSelector and one of the required terms must match.
  std::vector<api::label_requirement> node_selector;
  std::vector<node_term> required_nodes;
  bool has_required_nodes = false;
  std::vector<std::pair<std::int32_t, node_term>> preferred_nodes;

  std::vector<affinity_term> required_affinity, required_anti_affinity;
  std::vector<affinity_term> preferred_affinity, preferred_anti_affinity;
  std::vector<spread_constraint> spread;
  bool nominated = false;  // status.nominatedNodeName is set: preemption made room for it

  const api::core::v1::Pod& body() const { return pod->as<api::core::v1::Pod>(); }
  const std::string& node() const { return body().spec().node_name(); }
  bool selects_nodes() const { return !node_selector.empty() || has_required_nodes; }
  // True if nodeSelector and required node affinity admit a node with this name and labels.
  bool selects(const std::string& node, const api::label_map& labels_of_node) const;
};

using pod_info_ptr = std::shared_ptr<const pod_info>;
pod_info_ptr read_pod_info(api::object_ptr pod, std::uint64_t request = 0);

}  // namespace troupe::actors::scheduler
