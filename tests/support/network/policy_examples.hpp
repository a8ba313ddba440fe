// Pods, namespaces and network policies, as objects.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "actors/network/policies/policy_state.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::test {

using labels = std::map<std::string, std::string>;

struct port_example {
  std::string name;
  int number = 0;
  std::string protocol = "TCP";
};

struct pod_example {
  std::string name;  // "NAMESPACE/NAME"
  std::string address;
  labels with = {};
  std::vector<port_example> ports = {};
  std::string node = "node";
};

api::core::v1::Pod pod_body(const pod_example& of);
const actors::policies::address_family& family_of(const std::string& address);
// Of its address, in whatever family that is.
actors::policies::ip_number number_of(const std::string& address);
// Protected by policies if it is on the node "node".
actors::policies::policy_pod policy_pod_of(const pod_example& of);
api::object_ptr namespace_object(const std::string& name, const labels& with);
// `name`: "NAMESPACE/NAME"; `spec` in YAML of one line or more.
api::object_ptr policy_object(const std::string& name, std::string_view spec);

}  // namespace troupe::test
