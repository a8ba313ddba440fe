// Requires NoSchedule and NoExecute to be tolerated; prefers few untolerated PreferNoSchedule.
#include <algorithm>

#include "actors/nodes/taints.hpp"
#include "actors/scheduler/plugins/plugins.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::scheduler {

namespace {

class taint_toleration : public plugin,
                         public pre_filter_plugin,
                         public filter_plugin,
                         public pre_score_plugin,
                         public score_plugin {
 public:
  std::string_view name() const noexcept override { return "TaintToleration"; }
  std::uint32_t helped_by() const noexcept override { return node_added | node_taints_changed; }

  status pre_filter(cycle&, const pod_info&, const cluster_view& view) const override {
    return view.nodes_with_hard_taints() == 0 ? status{status_code::skip, {}} : status{};
  }
  status filter(const cycle&, const pod_info& pod, const node_info& node) const override {
    const auto* taint = untolerated_taint(pod, node);
    if (taint == nullptr) return {};
    return {status_code::unresolvable,
            "node(s) had untolerated taint {" + taint->key() + ": " + taint->value() + "}"};
  }

  status pre_score(cycle&, const pod_info&, const cluster_view& view,
                   const std::vector<const node_info*>&) const override {
    return view.nodes_with_soft_taints() == 0 ? status{status_code::skip, {}} : status{};
  }
  std::int64_t score(const cycle&, const pod_info& pod, const node_info& node) const override {
    if (!node.has_soft_taints()) return 0;
    const auto& taints = node.body().spec().taints();
    return std::count_if(taints.begin(), taints.end(), [&](const auto& taint) {
      return taint.effect() == "PreferNoSchedule" && !tolerates(pod.body().spec(), taint);
    });
  }
  void normalize(const cycle&, std::vector<std::int64_t>& scores) const override {
    normalize_scores(scores, true);
  }
};

}  // namespace

const api::core::v1::Taint* untolerated_taint(const pod_info& pod, const node_info& node) {
  if (!node.has_hard_taints()) return nullptr;
  for (const auto& taint : node.body().spec().taints())
    if (taint.effect() != "PreferNoSchedule" && !tolerates(pod.body().spec(), taint)) return &taint;
  return nullptr;
}

std::unique_ptr<plugin> make_taint_toleration() {
  return std::make_unique<taint_toleration>();
}

}  // namespace troupe::actors::scheduler
