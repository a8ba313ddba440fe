// Explains the path of a connection to a service or a pod, step by step: how a node handles it
// according to the cluster's objects, and where it ends. Answers why A does not reach B. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/network/policies/policy_reach.hpp"
#include "actors/network/services/service_counts.hpp"
#include "api/object/object.hpp"

namespace troupe::actors::network {

enum class step_state { fine, note, blocks };
std::string_view to_string(step_state state);

struct path_step {
  std::string part;  // "service", "port", "selector", "endpoint", "rule", "egress", "ingress" …
  step_state state = step_state::fine;
  std::string text;
};

struct path_question {
  // The target: a Service or a Pod.
  api::object_ptr to;
  // The client Pod; null: only the service, or any pod of the cluster.
  api::object_ptr from;
  // Number or name of the target's port; 0 and empty: any port.
  std::uint32_t port = 0;
  std::string protocol = "TCP";
  // If the target is a Service: its slices and the pods of its namespace.
  std::vector<api::object_ptr> slices, pods;
  // Policies of both namespaces, and all namespaces; its `pods` are not used.
  policies::policy_state state;
  // What this machine has counted for `rules_of` the question; empty: it has no such rules.
  services::connection_counts connections = {};
};

// The elements of the target in a node's table.
struct service_rules {
  const services::address_family& family;
  services::elements all;
};

// The target must be a Service. Of two address families the first: both have the same endpoints.
service_rules rules_of(const path_question& question);

struct path_answer {
  std::vector<path_step> steps;
  // Whether at least one endpoint is reachable according to the objects.
  bool reaches = false;
};

path_answer explain_path(const path_question& question);

}  // namespace troupe::actors::network
