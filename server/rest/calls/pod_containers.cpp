#include "server/rest/calls/pod_containers.hpp"

#include <fmt/format.h>

#include "actors/access/node_identity.hpp"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::server {

using api::core::v1::ContainerStatus;
using api::core::v1::Node;
using api::core::v1::Pod;

api::expected<std::string> container_named(const Pod& pod, const std::string& requested) {
  std::string names;
  const auto& spec = pod.spec();
  for (const auto* all : {&spec.init_containers(), &spec.containers()})
    for (const auto& container : *all) {
      if (container.name() == requested) return requested;
      names += (names.empty() ? "" : " ") + container.name();
    }
  for (const auto& container : spec.ephemeral_containers())
    if (container.ephemeral_container_common().name() == requested) return requested;
  const auto& name = pod.metadata().name();
  if (!requested.empty())
    return api::fail(
        api::bad_request(fmt::format("container {} is not valid for pod {}", requested, name)));
  if (spec.containers_size() == 1) return spec.containers(0).name();
  return api::fail(api::bad_request(fmt::format(
      "a container name must be specified for pod {}, choose one of: [{}]", name, names)));
}

const ContainerStatus* status_of(const Pod& pod, const std::string& container) {
  const auto& of_pod = pod.status();
  for (const auto* all : {&of_pod.init_container_statuses(), &of_pod.container_statuses(),
                          &of_pod.ephemeral_container_statuses()})
    for (const auto& status : *all)
      if (status.name() == container) return &status;
  return nullptr;
}

bool on_joined_node(const call& call, const Pod& pod) {
  return on_joined_node(call.services.plane.system(), call.services.read(), pod);
}

bool on_joined_node(runtime::actor_system& system, const persistence::snapshot& state,
                    const Pod& pod) {
  // With several control planes this machine's node looks joined to others, but it is
  // here.
  if (system.actors().find("kubelet", pod.spec().node_name())) return false;
  const auto node = state.find(api::kind_of<Node>().key({}, pod.spec().node_name()));
  return node && actors::has_joined(*node);
}

}  // namespace troupe::server
