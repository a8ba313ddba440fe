// Adds the not-ready taint to a new node, so that it gets no pods until the node controller removes
// it. Unlike upstream, a node that is created ready is not tainted: the next write would remove the
// taint.
//
// kubernetes: plugin/pkg/admission/nodetaint.
#include <algorithm>

#include "actors/core/condition.hpp"
#include "actors/write/admission/plugins.hpp"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::core::v1::Node;

constexpr const char* taint_key = "node.kubernetes.io/not-ready";
constexpr const char* taint_effect = "NoSchedule";

class taint_nodes_by_condition final : public plugin {
 public:
  std::string_view name() const noexcept override { return "TaintNodesByCondition"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return op == operation::create && &kind == &api::kind_of<Node>();
  }

  verdict mutate(const attributes&, api::body& now, persistence::transaction&) const override {
    auto& node = static_cast<Node&>(now);
    const auto& taints = node.spec().taints();
    const bool tainted = std::any_of(taints.begin(), taints.end(), [](const auto& taint) {
      return taint.key() == taint_key && taint.effect() == taint_effect;
    });
    if (tainted || is_condition_true(node.status().conditions(), "Ready")) return {};
    auto& taint = *node.mutable_spec()->add_taints();
    taint.set_key(taint_key);
    taint.set_effect(taint_effect);
    return {};
  }
};

}  // namespace

plugin_ptr make_taint_nodes_by_condition() {
  return std::make_shared<taint_nodes_by_condition>();
}

}  // namespace troupe::actors::admission
