// Requires free resources for the pod's requests; prefers nodes with more left (or less, or by a
// function of the utilization, as configured) and with balanced usage of cpu and memory
// (kubernetes: noderesources/fit.go, least_allocated.go, most_allocated.go,
// requested_to_capacity_ratio.go, balanced_allocation.go).
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "actors/scheduler/plugins/plugins.hpp"

namespace troupe::actors::scheduler {

namespace {

// A scored resource; common ones are found without comparing names.
struct scored_resource {
  enum class kind : std::uint8_t { cpu, memory, ephemeral, extended } kind;
  std::string name;
  std::int64_t weight;

  std::int64_t of(const resources& amounts) const {
    switch (kind) {
      case kind::cpu:
        return amounts.milli_cpu;
      case kind::memory:
        return amounts.memory;
      case kind::ephemeral:
        return amounts.ephemeral;
      default:
        return amounts.extended_amount(name);
    }
  }
};

std::vector<scored_resource> compile(const std::vector<weighted_resource>& from) {
  using kind = enum scored_resource::kind;
  std::vector<scored_resource> result;
  for (const auto& [name, weight] : from)
    result.push_back({name == "cpu"                 ? kind::cpu
                      : name == "memory"            ? kind::memory
                      : name == "ephemeral-storage" ? kind::ephemeral
                                                    : kind::extended,
                      name, weight});
  return result;
}

// True for cpu and memory with weight 1, upstream's defaults: this case has code without a loop,
// because thousands of nodes are scored for each pod.
bool is_usual(const std::vector<scored_resource>& resources) {
  using kind = enum scored_resource::kind;
  return resources.size() == 2 && resources[0].kind == kind::cpu &&
         resources[1].kind == kind::memory && resources[0].weight == 1 && resources[1].weight == 1;
}

// Linear between the points, constant outside of them.
std::int64_t interpolate(const std::vector<utilization_point>& shape, std::int64_t utilization) {
  const auto above = std::find_if(shape.begin(), shape.end(), [&](const auto& point) {
    return utilization <= point.utilization;
  });
  if (above == shape.end()) return shape.back().score;
  if (above == shape.begin()) return above->score;
  const auto& below = *(above - 1);
  return below.score + (above->score - below.score) * (utilization - below.utilization) /
                           (above->utilization - below.utilization);
}

class node_resources_fit : public plugin, public filter_plugin, public score_plugin {
 public:
  std::string_view name() const noexcept override { return "NodeResourcesFit"; }
  std::uint32_t helped_by() const noexcept override {
    return node_added | node_resources_changed | pod_deleted | pod_updated;
  }
  void configure(const plugin_arguments& arguments) override {
    ignored_ = arguments.ignored_resources;
    ignored_groups_ = arguments.ignored_resource_groups;
    strategy_ = arguments.strategy;
    resources_ = compile(arguments.scored_resources);
    shape_ = arguments.shape;
    usual_ = strategy_ == scoring_strategy::least_allocated && is_usual(resources_);
  }

  // Thousands of nodes are filtered for each pod: a node that fits costs no text.
  status filter(const cycle&, const pod_info& pod, const node_info& node) const override {
    const auto& has = node.allocatable();
    const auto& used = node.requested();
    const auto& asked = pod.requests;
    const bool fits = used.pods < has.pods && asked.extended.empty() &&
                      !exceeds(asked.milli_cpu, has.milli_cpu - used.milli_cpu) &&
                      !exceeds(asked.memory, has.memory - used.memory) &&
                      !exceeds(asked.ephemeral, has.ephemeral - used.ephemeral);
    return fits ? status{} : explain(pod, node);
  }

  std::int64_t score(const cycle&, const pod_info& pod, const node_info& node) const override {
    const auto& has = node.allocatable();
    if (usual_ && has.milli_cpu > 0 && has.memory > 0)
      return (unused(node.scored().milli_cpu + pod.scoring_requests.milli_cpu, has.milli_cpu) +
              unused(node.scored().memory + pod.scoring_requests.memory, has.memory)) /
             2;
    using kind = enum scored_resource::kind;
    std::int64_t total = 0, weights = 0;
    for (const auto& each : resources_) {
      const auto capacity = each.of(has);
      const bool usual = each.kind == kind::cpu || each.kind == kind::memory;
      const auto asked = each.of(usual ? pod.scoring_requests : pod.requests);
      if (capacity <= 0 || (each.kind == kind::extended && asked == 0)) continue;
      const auto score = rate(each.of(usual ? node.scored() : node.requested()) + asked, capacity);
      // Upstream skips a resource with a score of 0 here.
      if (strategy_ == scoring_strategy::by_utilization && score == 0) continue;
      total += score * each.weight;
      weights += each.weight;
    }
    if (weights == 0) return 0;
    return strategy_ == scoring_strategy::by_utilization ? (total + weights / 2) / weights
                                                         : total / weights;
  }

 private:
  static bool exceeds(std::int64_t requested, std::int64_t free) {
    return requested != 0 && requested > free;
  }

  status explain(const pod_info& pod, const node_info& node) const {
    status result;
    bool never = false;
    const auto& has = node.allocatable();
    const auto& used = node.requested();
    const auto check = [&](std::int64_t requested, std::int64_t total, std::int64_t taken,
                           std::string_view reason, std::string_view name) {
      if (!exceeds(requested, total - taken)) return;
      result.code = status_code::unschedulable;
      if (!result.reason.empty()) result.reason += '\n';
      result.reason.append(reason).append(name);
      never |= requested > total;
    };
    check(1, has.pods, used.pods, "Too many pods", {});
    check(pod.requests.milli_cpu, has.milli_cpu, used.milli_cpu, "Insufficient cpu", {});
    check(pod.requests.memory, has.memory, used.memory, "Insufficient memory", {});
    check(pod.requests.ephemeral, has.ephemeral, used.ephemeral, "Insufficient ephemeral-storage",
          {});
    for (const auto& [name, amount] : pod.requests.extended)
      if (!ignores(name))
        check(amount, has.extended_amount(name), used.extended_amount(name), "Insufficient ", name);
    if (never) result.code = status_code::unresolvable;
    return result;
  }

  static std::int64_t unused(std::int64_t taken, std::int64_t capacity) {
    return taken > capacity ? 0 : (capacity - taken) * max_score / capacity;
  }

  bool ignores(const std::string& resource) const {
    const auto group = resource.substr(0, resource.find('/'));
    return std::find(ignored_.begin(), ignored_.end(), resource) != ignored_.end() ||
           std::find(ignored_groups_.begin(), ignored_groups_.end(), group) !=
               ignored_groups_.end();
  }

  std::int64_t rate(std::int64_t taken, std::int64_t capacity) const {
    const auto used = std::min(taken, capacity);
    switch (strategy_) {
      case scoring_strategy::least_allocated:
        return unused(taken, capacity);
      case scoring_strategy::most_allocated:
        return used * max_score / capacity;
      default:
        return interpolate(shape_, used * 100 / capacity);
    }
  }

  std::vector<std::string> ignored_, ignored_groups_;
  scoring_strategy strategy_ = scoring_strategy::least_allocated;
  std::vector<scored_resource> resources_ = compile(plugin_arguments{}.scored_resources);
  bool usual_ = true;
  std::vector<utilization_point> shape_;
};

class balanced_allocation : public plugin, public score_plugin {
 public:
  std::string_view name() const noexcept override { return "NodeResourcesBalancedAllocation"; }
  void configure(const plugin_arguments& arguments) override {
    resources_ = compile(arguments.balanced_resources);
    usual_ = is_usual(resources_);
  }

  // The smaller the differences of the used shares, the higher the score. A pod without requests
  // changes none: all such pods would be placed on the node that is balanced best.
  std::int64_t score(const cycle&, const pod_info& pod, const node_info& node) const override {
    if (requests_nothing(pod)) return 0;
    const auto& has = node.allocatable();
    if (usual_ && has.milli_cpu > 0 && has.memory > 0)
      return balance(share(node.requested().milli_cpu + pod.requests.milli_cpu, has.milli_cpu),
                     share(node.requested().memory + pod.requests.memory, has.memory));
    double sum = 0, first = 0, last = 0;
    int count = 0;
    for (const auto& each : resources_) {
      const auto part = share_of(each, pod, node);
      if (!part) continue;
      if (count++ == 0) first = *part;
      last = *part;
      sum += *part;
    }
    if (count <= 2) return balance(first, last);
    const auto mean = sum / count;
    double squares = 0;
    for (const auto& each : resources_)
      if (const auto part = share_of(each, pod, node)) squares += (*part - mean) * (*part - mean);
    return static_cast<std::int64_t>((1.0 - std::sqrt(squares / count)) * max_score);
  }

 private:
  bool requests_nothing(const pod_info& pod) const {
    return std::all_of(resources_.begin(), resources_.end(),
                       [&](const auto& each) { return each.of(pod.requests) == 0; });
  }

  // The standard deviation of two values is half their difference.
  static std::int64_t balance(double first, double last) {
    return static_cast<std::int64_t>((1.0 - std::abs(first - last) / 2) * max_score);
  }

  static double share(std::int64_t taken, std::int64_t total) {
    return std::min(1.0, static_cast<double>(taken) / static_cast<double>(total));
  }

  static std::optional<double> share_of(const scored_resource& resource, const pod_info& pod,
                                        const node_info& node) {
    const auto total = resource.of(node.allocatable());
    const auto asked = resource.of(pod.requests);
    if (total <= 0 || (resource.kind == scored_resource::kind::extended && asked == 0))
      return std::nullopt;
    return share(resource.of(node.requested()) + asked, total);
  }

  std::vector<scored_resource> resources_ = compile(plugin_arguments{}.balanced_resources);
  bool usual_ = true;
};

}  // namespace

std::unique_ptr<plugin> make_node_resources_fit() {
  return std::make_unique<node_resources_fit>();
}
std::unique_ptr<plugin> make_balanced_allocation() {
  return std::make_unique<balanced_allocation>();
}

}  // namespace troupe::actors::scheduler
