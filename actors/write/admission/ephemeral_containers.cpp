// An ephemeral container (kubectl debug) can be added only if the node's runtime can start it: 403
// if the runtime runs processes or simulates.
// Our own rule: all of upstream's kubelets can start them.
#include <fmt/format.h>

#include "actors/write/admission/plugins.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::core::v1::Node;
using api::core::v1::Pod;

bool starts_them(std::string_view runtime) {
  return !runtime.starts_with("process://") && !runtime.starts_with("simulated://");
}

class ephemeral_containers final : public plugin {
 public:
  std::string_view name() const noexcept override { return "EphemeralContainers"; }

  bool handles(const api::kind_info&, operation) const override { return false; }
  bool handles_part(const api::kind_info& kind, operation op) const override {
    return op == operation::update && &kind == &api::kind_of<Pod>();
  }

  verdict validate(const attributes& of) const override {
    if (of.subresource != "ephemeralcontainers") return {};
    const auto& pod = static_cast<const Pod&>(*of.now);
    const auto& before = static_cast<const Pod&>(*of.before);
    if (pod.spec().ephemeral_containers_size() == before.spec().ephemeral_containers_size())
      return {};
    const auto& node_name = pod.spec().node_name();
    if (node_name.empty())
      return api::fail(forbidden(of, "it is not bound to a node that can start the container"));
    const auto node = of.state.find(api::kind_of<Node>().key({}, node_name));
    if (!node) return {};
    const auto& runtime = node->as<Node>().status().node_info().container_runtime_version();
    if (starts_them(runtime)) return {};
    return api::fail(forbidden(
        of, fmt::format("the runtime of node \"{}\" ({}) does not start ephemeral containers",
                        node_name, runtime)));
  }
};

}  // namespace

plugin_ptr make_ephemeral_containers() {
  return std::make_shared<ephemeral_containers>();
}

}  // namespace troupe::actors::admission
