// The input of network policy evaluation: the policies, the labels of namespaces, and the pods that
// have their own address. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/network/policies/ranges.hpp"
#include "api/object/object.hpp"
#include "api/schema/networking_policy.pb.h"
#include "api/selectors/selector.hpp"

namespace troupe::actors::policies {

struct policy_pod {
  api::object_ptr object;
  ip_number address = 0;
  bool guarded = false;  // runs on the node whose rules are compiled

  const std::string& ns() const { return object->meta().namespace_(); }
  const api::label_map& labels() const { return object->meta().labels(); }
  // "NAMESPACE/NAME".
  std::string name() const;
  // Ports of its containers with this name (kubernetes: FindPort includes sidecars too).
  std::vector<std::uint32_t> ports_named(std::string_view name, std::string_view protocol) const;
};

// Of one family: a pod with two addresses is in the states of both.
struct policy_state {
  const address_family* family = &services::family_v4;
  std::vector<api::object_ptr> policies = {};
  std::map<std::string, api::object_ptr> namespaces = {};  // by name
  // Each address occurs once.
  std::vector<policy_pod> pods = {};
};

enum class direction { ingress, egress };
std::string_view to_string(direction side);

// The address of a pod for policies; nothing if it has none of its own in that family: it shares
// the node's (hostNetwork, or a runtime without a pod network), has ended, or has not started.
std::optional<ip_number> own_address(const api::object& pod, const address_family& family);

// Whether the policy applies to this direction (kubernetes: policyTypes and its default).
bool guards(const api::networking::v1::NetworkPolicySpec& spec, direction side);

// Converts a selector of the API; an invalid one selects nothing.
api::label_selector selector_of(const api::meta::v1::LabelSelector& from);

}  // namespace troupe::actors::policies
