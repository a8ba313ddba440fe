// Requires nodeSelector and required node affinity to match; adds the weights of preferred terms.
// The configuration may add an affinity for all pods.
#include "actors/scheduler/plugins/plugins.hpp"

namespace troupe::actors::scheduler {

namespace {

class node_affinity : public plugin,
                      public pre_filter_plugin,
                      public filter_plugin,
                      public pre_score_plugin,
                      public score_plugin {
 public:
  std::string_view name() const noexcept override { return "NodeAffinity"; }
  std::uint32_t helped_by() const noexcept override { return node_added | node_labels_changed; }

  void configure(const plugin_arguments& arguments) override { added_ = arguments.added_affinity; }

  status pre_filter(cycle&, const pod_info& pod, const cluster_view&) const override {
    return pod.selects_nodes() || added_.has_required ? status{} : status{status_code::skip, {}};
  }
  status filter(const cycle&, const pod_info& pod, const node_info& node) const override {
    if (!added_.admits(node.name(), node.labels()))
      return {status_code::unresolvable, "node(s) didn't match scheduler-enforced node affinity"};
    if (pod.selects(node.name(), node.labels())) return {};
    return {status_code::unresolvable, "node(s) didn't match Pod's node affinity/selector"};
  }

  status pre_score(cycle&, const pod_info& pod, const cluster_view&,
                   const std::vector<const node_info*>&) const override {
    return pod.preferred_nodes.empty() && added_.preferred.empty() ? status{status_code::skip, {}}
                                                                   : status{};
  }
  std::int64_t score(const cycle&, const pod_info& pod, const node_info& node) const override {
    std::int64_t total = 0;
    for (const auto* terms : {&pod.preferred_nodes, &added_.preferred})
      for (const auto& [weight, term] : *terms)
        if (term.matches(node.name(), node.labels())) total += weight;
    return total;
  }
  void normalize(const cycle&, std::vector<std::int64_t>& scores) const override {
    normalize_scores(scores, false);
  }

 private:
  node_preferences added_;
};

}  // namespace

std::unique_ptr<plugin> make_node_affinity() {
  return std::make_unique<node_affinity>();
}

}  // namespace troupe::actors::scheduler
