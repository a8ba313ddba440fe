#include "support/network/random_policies.hpp"

#include <algorithm>

#include "support/network/policy_examples.hpp"

namespace troupe::test {

using namespace actors::policies;

namespace {

const std::vector<std::string> namespaces{"a", "b", "c"};
const std::vector<std::string> port_names{"http", "dns"};
constexpr int most_pods = 8, most_policies = 5;

}  // namespace

std::string random_policies::one_of(const std::vector<std::string>& words) {
  return words[static_cast<std::size_t>(below(static_cast<int>(words.size())))];
}

std::string random_policies::protocol() {
  return one_of({"TCP", "UDP", "SCTP"});
}

std::uint32_t random_policies::port() {
  return static_cast<std::uint32_t>(below(5) == 0 ? 1'000 : 80 + below(4));
}

std::string random_policies::text_of(int number) const {
  return (family_->bits == 32 ? "10.42.0." : "fd00:42::") + std::to_string(number);
}

std::string random_policies::block_of(int number, int host_bits) const {
  return '"' + text_of(number) + "/" + std::to_string(family_->bits - host_bits) + '"';
}

ip_number random_policies::address() {
  return parse_address(text_of(below(12)), *family_).value();
}

std::string random_policies::selector() {
  switch (below(4)) {
    case 0:
      return "{}";
    case 1:
      return "{matchLabels: {app: " + one_of({"x", "y"}) + "}}";
    case 2:
      return "{matchExpressions: [{key: app, operator: NotIn, values: [x]}]}";
    default:
      return "{matchExpressions: [{key: tier, operator: Exists}]}";
  }
}

std::string random_policies::peer() {
  switch (below(5)) {
    case 0:
      return "{podSelector: " + selector() + "}";
    case 1:
      return "{namespaceSelector: " + selector() + "}";
    case 2:
      return "{podSelector: " + selector() + ", namespaceSelector: " + selector() + "}";
    case 3:
      return "{ipBlock: {cidr: " +
             one_of({block_of(0, family_->bits), block_of(0, 4), block_of(0, 3)}) + ", except: [" +
             block_of(2, 1) + ", " + block_of(below(8), 0) + "]}}";
    default:
      return one_of({"{ipBlock: {cidr: " + block_of(4, 2) + "}}", "{ipBlock: {cidr: 0.0.0.0/0}}",
                     "{ipBlock: {cidr: \"::/0\"}}"});
  }
}

std::string random_policies::port_text() {
  const auto used = "protocol: " + protocol();
  switch (below(4)) {
    case 0:
      return "{" + used + "}";
    case 1:
      return "{" + used + ", port: " + one_of(port_names) + "}";
    case 2:
      return "{" + used + ", port: " + std::to_string(port()) + "}";
    default:
      return "{" + used + ", port: 81, endPort: " + one_of({"81", "83", "1000"}) + "}";
  }
}

std::string random_policies::list(int most, std::string (random_policies::*item)()) {
  std::string out = "[";
  for (int i = below(most + 1); i > 0; --i)
    out += (this->*item)() + (i > 1 ? ", " : "");
  return out + "]";
}

std::string random_policies::spec() {
  std::string out = "{podSelector: " + selector();
  for (const auto* side : {"ingress", "egress"}) {
    const auto* peers = std::string_view{side} == "ingress" ? "from" : "to";
    out += std::string{", "} + side + ": [";
    for (int i = below(3); i > 0; --i)
      out += std::string{"{"} + peers + ": " + list(2, &random_policies::peer) +
             ", ports: " + list(2, &random_policies::port_text) + "}" + (i > 1 ? ", " : "");
    out += "]";
  }
  return out + ", policyTypes: " + one_of({"[Ingress]", "[Egress]", "[Ingress, Egress]", "[]"}) +
         "}";
}

policy_pod random_policies::pod(int number) {
  pod_example made{one_of(namespaces) + "/p" + std::to_string(number), text_of(number)};
  made.node = one_of({"node", "node", "other"});
  if (below(3) > 0) made.with["app"] = one_of({"x", "y"});
  if (below(3) == 0) made.with["tier"] = "front";
  for (const auto& name : port_names)
    if (below(2) == 0) made.ports.push_back({name, static_cast<int>(port()), protocol()});
  return policy_pod_of(made);
}

api::object_ptr random_policies::policy(int number) {
  return policy_object(one_of(namespaces) + "/policy-" + std::to_string(number), spec());
}

api::object_ptr random_policies::labelled_namespace(const std::string& name) {
  labels with;
  if (below(2) == 0) with["app"] = one_of({"x", "y"});
  if (below(2) == 0) with["tier"] = "front";
  return namespace_object(name, with);
}

policy_state random_policies::state() {
  policy_state made{.family = family_};
  for (const auto& name : namespaces)
    made.namespaces[name] = labelled_namespace(name);
  for (int i = 1; i <= most_pods; ++i)
    made.pods.push_back(pod(i));
  for (int i = below(most_policies + 1); i > 0; --i)
    made.policies.push_back(policy(i));
  return made;
}

void random_policies::change(policy_state& state) {
  const auto name = one_of(namespaces);
  const auto replace = [&](auto& list, auto made, const auto& same) {
    std::erase_if(list, same);
    if (below(4) > 0) list.push_back(std::move(made));
  };
  switch (below(3)) {
    case 0:
      state.namespaces[name] = labelled_namespace(name);
      break;
    case 1: {
      const auto made = pod(1 + below(most_pods));
      replace(state.pods, made, [&](const auto& each) { return each.address == made.address; });
      break;
    }
    default: {
      const auto made = policy(1 + below(most_policies));
      replace(state.policies, made,
              [&](const auto& each) { return each->meta().name() == made->meta().name(); });
    }
  }
}

}  // namespace troupe::test
