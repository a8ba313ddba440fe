// Copies the zone and region labels of the node to a pod that is bound, so that its containers can
// read them.
//
// kubernetes: plugin/pkg/admission/podtopologylabels.
#include <array>

#include "actors/write/admission/plugins.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::core::v1::Node;
using api::core::v1::Pod;

constexpr std::array topology_labels{"topology.kubernetes.io/zone",
                                     "topology.kubernetes.io/region"};

class pod_topology_labels final : public plugin {
 public:
  std::string_view name() const noexcept override { return "PodTopologyLabels"; }

  bool handles(const api::kind_info&, operation) const override { return false; }
  bool handles_part(const api::kind_info& kind, operation op) const override {
    return op == operation::update && &kind == &api::kind_of<Pod>();
  }

  verdict mutate(const attributes& of, api::body& now, persistence::transaction&) const override {
    if (of.subresource != "binding") return {};
    auto& pod = static_cast<Pod&>(now);
    const auto node = of.state.find(api::kind_of<Node>().key({}, pod.spec().node_name()));
    if (!node) return {};
    for (const auto* key : topology_labels) {
      const auto found = node->meta().labels().find(key);
      if (found != node->meta().labels().end())
        (*pod.mutable_metadata()->mutable_labels())[key] = found->second;
    }
    return {};
  }
};

}  // namespace

plugin_ptr make_pod_topology_labels() {
  return std::make_shared<pod_topology_labels>();
}

}  // namespace troupe::actors::admission
