// The path of a connection to a service or a pod, step by step: what a node does with it by the
// objects of the cluster, and where it ends. For people who ask why A does not reach B. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/network/policies/policy_reach.hpp"
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
  // A Service or a Pod.
  api::object_ptr to;
  // The Pod that asks; null: the service alone is looked at, or a pod from anywhere in the cluster.
  api::object_ptr from;
  // By the number or the name of the target's port; 0 and empty: any.
  std::uint32_t port = 0;
  std::string protocol = "TCP";
  // Of a Service: its slices and the pods of its namespace.
  std::vector<api::object_ptr> slices, pods;
  // Policies of both namespaces, all namespaces; its `pods` are not looked at.
  policies::policy_state state;
};

struct path_answer {
  std::vector<path_step> steps;
  // Whether at least one endpoint is reached, by what the objects say.
  bool reaches = false;
};

path_answer explain_path(const path_question& question);

}  // namespace troupe::actors::network
