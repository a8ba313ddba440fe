// Places pods near other pods, or away from them, in a topology (host, zone). Required
// anti-affinity is symmetric: a pod on a node may reject new pods (kubernetes:
// interpodaffinity).
#include <algorithm>
#include <unordered_map>

#include "actors/scheduler/plugins/plugins.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors::scheduler {

namespace {

// By "key\0value" of a topology: the number of pods, or the weight.
using domain_counts = std::unordered_map<std::string, std::int64_t>;

// Empty if the node is in no such domain.
std::string domain_of(const node_info& node, const std::string& topology_key) {
  const auto& labels = node.labels();
  const auto found = labels.find(topology_key);
  if (found == labels.end()) return {};
  std::string domain{topology_key};
  domain += '\0';
  return domain += found->second;
}

struct affinity_notes {
  std::vector<domain_counts> affinity, anti_affinity;  // for each required term
  domain_counts kept_out;                              // by the anti-affinity of existing pods
  bool matches_itself = false;
  domain_counts preferred;
};

bool matches_all(const std::vector<affinity_term>& terms, const api::object& pod,
                 const cluster_view& view) {
  return std::all_of(terms.begin(), terms.end(),
                     [&](const auto& t) { return t.matches(pod, view); });
}

// A domain without pods has no entry.
void add(domain_counts& counts, const std::string& domain, int by) {
  if (domain.empty()) return;
  if (const auto at = counts.try_emplace(domain).first; (at->second += by) == 0) counts.erase(at);
}

void count(const std::vector<affinity_term>& terms, const node_info& node, const pod_info& other,
           const cluster_view& view, int by, std::vector<domain_counts>& counts) {
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (terms[i].matches(*other.pod, view))
      add(counts[i], domain_of(node, terms[i].topology_key), by);
}

// Counts a pod on a node (`by` 1), or no longer (-1).
void take(affinity_notes& all, const pod_info& pod, const cluster_view& view, const pod_info& other,
          const node_info& node, int by) {
  if (matches_all(pod.required_affinity, *other.pod, view))
    count(pod.required_affinity, node, other, view, by, all.affinity);
  count(pod.required_anti_affinity, node, other, view, by, all.anti_affinity);
  for (const auto& term : other.required_anti_affinity)
    if (term.matches(*pod.pod, view)) add(all.kept_out, domain_of(node, term.topology_key), by);
}

// `times`: the factor for each term's weight, which is 1 for required terms.
void weigh(const std::vector<affinity_term>& terms, const node_info& node, const api::object& pod,
           const cluster_view& view, std::int64_t times, domain_counts& counts) {
  if (times == 0) return;
  for (const auto& term : terms)
    if (term.matches(pod, view)) {
      const auto domain = domain_of(node, term.topology_key);
      if (!domain.empty()) counts[domain] += times * std::max(term.weight, 1);
    }
}

class inter_pod_affinity : public plugin,
                           public pre_filter_plugin,
                           public filter_plugin,
                           public pre_score_plugin,
                           public score_plugin {
 public:
  std::string_view name() const noexcept override { return "InterPodAffinity"; }
  std::uint32_t helped_by() const noexcept override {
    return node_added | node_labels_changed | pod_bound | pod_deleted | namespace_labels_changed;
  }

  void configure(const plugin_arguments& arguments) override {
    hard_weight_ = arguments.hard_pod_affinity_weight;
    own_terms_alone_ = arguments.ignore_preferred_terms_of_existing_pods;
  }

  status pre_filter(cycle& notes, const pod_info& pod, const cluster_view& view) const override {
    if (pod.required_affinity.empty() && pod.required_anti_affinity.empty() &&
        view.pods_with_anti_affinity() == 0)
      return {status_code::skip, {}};
    auto& all = notes.make<affinity_notes>(index());
    all.affinity.resize(pod.required_affinity.size());
    all.anti_affinity.resize(pod.required_anti_affinity.size());
    for (const auto* node : view.nodes())
      for (const auto& other : node->pods())
        take(all, pod, view, *other, *node, 1);
    all.matches_itself = matches_all(pod.required_affinity, *pod.pod, view);
    return {};
  }
  void adjust(const cycle& notes, const pod_info& pod, const cluster_view& view,
              const pod_info& other, const node_info& node, int by) const override {
    take(notes.get<affinity_notes>(index()), pod, view, other, node, by);
  }

  status filter(const cycle& notes, const pod_info& pod, const node_info& node) const override {
    const auto& all = notes.get<affinity_notes>(index());
    // The first pod of a group with affinity to itself may go anywhere.
    const bool first =
        all.matches_itself && std::all_of(all.affinity.begin(), all.affinity.end(),
                                          [](const auto& counts) { return counts.empty(); });
    for (std::size_t i = 0; i < pod.required_affinity.size(); ++i) {
      const auto domain = domain_of(node, pod.required_affinity[i].topology_key);
      if (domain.empty() || (!first && !all.affinity[i].contains(domain)))
        return {status_code::unresolvable, "node(s) didn't match pod affinity rules"};
    }
    for (std::size_t i = 0; i < pod.required_anti_affinity.size(); ++i)
      if (all.anti_affinity[i].contains(
              domain_of(node, pod.required_anti_affinity[i].topology_key)))
        return {status_code::unschedulable, "node(s) didn't match pod anti-affinity rules"};
    for (const auto& [key, value] : node.labels())
      if (!all.kept_out.empty() && all.kept_out.contains(domain_of(node, key)))
        return {status_code::unschedulable,
                "node(s) didn't satisfy existing pods anti-affinity rules"};
    return {};
  }

  status pre_score(cycle& notes, const pod_info& pod, const cluster_view& view,
                   const std::vector<const node_info*>&) const override {
    if (pod.preferred_affinity.empty() && pod.preferred_anti_affinity.empty() &&
        (own_terms_alone_ || view.pods_with_affinity() == 0))
      return {status_code::skip, {}};
    domain_counts preferred;
    for (const auto* node : view.nodes())
      for (const auto& other : node->pods()) {
        weigh(pod.preferred_affinity, *node, *other->pod, view, +1, preferred);
        weigh(pod.preferred_anti_affinity, *node, *other->pod, view, -1, preferred);
        weigh(other->preferred_affinity, *node, *pod.pod, view, +1, preferred);
        weigh(other->preferred_anti_affinity, *node, *pod.pod, view, -1, preferred);
        weigh(other->required_affinity, *node, *pod.pod, view, hard_weight_, preferred);
      }
    if (preferred.empty()) return {status_code::skip, {}};
    notes.make<affinity_notes>(index()).preferred = std::move(preferred);
    return {};
  }
  std::int64_t score(const cycle& notes, const pod_info&, const node_info& node) const override {
    const auto& preferred = notes.get<affinity_notes>(index()).preferred;
    std::int64_t total = 0;
    for (const auto& [key, value] : node.labels())
      if (const auto found = preferred.find(domain_of(node, key)); found != preferred.end())
        total += found->second;
    return total;
  }
  void normalize(const cycle&, std::vector<std::int64_t>& scores) const override {
    if (scores.empty()) return;
    const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
    const auto low = *least, range = *most - *least;
    for (auto& score : scores)
      score = range == 0 ? 0 : max_score * (score - low) / range;
  }

 private:
  std::int64_t hard_weight_ = 1;
  bool own_terms_alone_ = false;  // pods without preferences ignore those of others
};

}  // namespace

std::unique_ptr<plugin> make_inter_pod_affinity() {
  return std::make_unique<inter_pod_affinity>();
}

}  // namespace troupe::actors::scheduler
