#include "support/network/policy_examples.hpp"

#include <stdexcept>

#include "api/codec/codec.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/scheme.hpp"

namespace troupe::test {

using api::core::v1::Namespace;
using api::core::v1::Pod;
using api::networking::v1::NetworkPolicy;

namespace {

void set_labels(api::meta::v1::ObjectMeta& meta, const labels& with) {
  for (const auto& [key, value] : with)
    (*meta.mutable_labels())[key] = value;
}

void set_name(api::meta::v1::ObjectMeta& meta, const std::string& name) {
  const auto slash = name.find('/');
  meta.set_namespace_(name.substr(0, slash));
  meta.set_name(name.substr(slash + 1));
  meta.set_uid(name);
}

}  // namespace

Pod pod_body(const pod_example& of) {
  Pod pod;
  set_name(*pod.mutable_metadata(), of.name);
  set_labels(*pod.mutable_metadata(), of.with);
  pod.mutable_spec()->set_node_name(of.node);
  auto& container = *pod.mutable_spec()->add_containers();
  container.set_name("c");
  container.set_image("none");
  for (const auto& each : of.ports) {
    auto& port = *container.add_ports();
    port.set_name(each.name);
    port.set_container_port(each.number);
    port.set_protocol(each.protocol);
  }
  pod.mutable_status()->set_phase("Running");
  pod.mutable_status()->set_host_ip("192.0.2.1");
  pod.mutable_status()->set_pod_ip(of.address);
  return pod;
}

const actors::policies::address_family& family_of(const std::string& address) {
  return api::ip_family(address) == "IPv6" ? actors::services::family_v6
                                           : actors::services::family_v4;
}

actors::policies::ip_number number_of(const std::string& address) {
  return actors::policies::parse_address(address, family_of(address)).value();
}

actors::policies::policy_pod policy_pod_of(const pod_example& of) {
  const auto object = std::make_shared<const api::object>(api::kind_of<Pod>(),
                                                          std::make_unique<Pod>(pod_body(of)), 1);
  return {object, number_of(of.address), of.node == "node"};
}

api::object_ptr namespace_object(const std::string& name, const labels& with) {
  auto body = std::make_unique<Namespace>();
  body->mutable_metadata()->set_name(name);
  set_labels(*body->mutable_metadata(), with);
  return std::make_shared<const api::object>(api::kind_of<Namespace>(), std::move(body), 1);
}

api::object_ptr policy_object(const std::string& name, std::string_view spec) {
  auto body = std::make_unique<NetworkPolicy>();
  const auto read = api::decode_into("spec: " + std::string{spec}, api::media::yaml, *body);
  if (!read) throw std::invalid_argument{read.error().message + ": " + std::string{spec}};
  set_name(*body->mutable_metadata(), name);
  return std::make_shared<const api::object>(api::kind_of<NetworkPolicy>(), std::move(body), 1);
}

}  // namespace troupe::test
