#include "actors/controllers/daemon_sets/node_plan.hpp"

#include <algorithm>

namespace troupe::actors::daemon_sets {

namespace {

bool lives(const daemon_pod& pod) {
  return !pod.terminating && !pod.failed && !pod.succeeded;
}

// During a surge an old and a new pod may share a node until the new one is available. Of two old
// or two new pods the oldest stays.
void plan_shared_node(const std::vector<const daemon_pod*>& pods, daemon_plan& plan) {
  const daemon_pod *fresh = nullptr, *old = nullptr;
  for (const auto* pod : pods) {
    auto& kept = pod->current ? fresh : old;
    if (kept == nullptr)
      kept = pod;
    else
      plan.remove.push_back(pod->key);
  }
  if (fresh != nullptr && old != nullptr && (!old->ready || fresh->available))
    plan.remove.push_back(old->key);
}

// The only pod of each revision; null for several, which plan_node must reduce first.
struct pair_of_pods {
  const daemon_pod *fresh = nullptr, *old = nullptr;
  bool clear = true;
};

pair_of_pods find_pair(const daemon_node& node) {
  pair_of_pods found;
  for (const auto& pod : node.pods) {
    if (pod.terminating) continue;
    auto& place = pod.current ? found.fresh : found.old;
    if (place != nullptr) found.clear = false;
    place = &pod;
  }
  return found;
}

rolling_plan plan_in_place(const std::vector<daemon_node>& nodes, std::int32_t most) {
  rolling_plan plan;
  std::vector<std::string> candidates;
  std::int32_t away = 0;
  for (const auto& node : nodes) {
    if (!node.fit.runs) continue;
    const auto [fresh, old, clear] = find_pair(node);
    if (!clear || (fresh == nullptr) == (old == nullptr)) {
      ++away;
    } else if (fresh != nullptr) {
      away += fresh->available ? 0 : 1;
    } else if (!old->available) {
      plan.remove.push_back(old->key);
    } else {
      candidates.push_back(old->key);
    }
  }
  const auto room = static_cast<std::size_t>(std::max(most - away, 0));
  candidates.resize(std::min(candidates.size(), room));
  plan.remove.insert(plan.remove.end(), candidates.begin(), candidates.end());
  return plan;
}

rolling_plan plan_surge(const std::vector<daemon_node>& nodes, std::int32_t most) {
  rolling_plan plan;
  std::vector<std::string> candidates;
  std::int32_t surging = 0;
  for (const auto& node : nodes) {
    if (!node.fit.runs) continue;
    const auto [fresh, old, clear] = find_pair(node);
    if (!clear) {
      ++surging;
    } else if (old == nullptr) {
      continue;
    } else if (fresh != nullptr) {
      surging += fresh->available ? 0 : 1;
    } else if (!old->available) {
      plan.create.push_back(node.name);
    } else {
      candidates.push_back(node.name);
    }
  }
  const auto room = static_cast<std::size_t>(std::max(most - surging, 0));
  candidates.resize(std::min(candidates.size(), room));
  plan.create.insert(plan.create.end(), candidates.begin(), candidates.end());
  return plan;
}

}  // namespace

daemon_plan plan_node(const daemon_node& node, const daemon_rules& rules) {
  daemon_plan plan;
  if (!node.fit.keeps) {
    for (const auto& pod : node.pods)
      if (!pod.terminating) plan.remove.push_back(pod.key);
    return plan;
  }
  if (node.pods.empty()) {
    plan.create = node.fit.runs;
    return plan;
  }
  std::vector<const daemon_pod*> living;
  for (const auto& pod : node.pods) {
    if (lives(pod))
      living.push_back(&pod);
    else if (!pod.terminating)
      plan.ended.push_back(pod.key);
  }
  if (rules.rolling && rules.surge > 0) {
    plan_shared_node(living, plan);
    return plan;
  }
  for (std::size_t i = 1; i < living.size(); ++i)
    plan.remove.push_back(living[i]->key);
  return plan;
}

rolling_plan plan_rolling(const std::vector<daemon_node>& nodes, const daemon_rules& rules) {
  if (!rules.rolling) return {};
  return rules.surge > 0 ? plan_surge(nodes, rules.surge) : plan_in_place(nodes, rules.unavailable);
}

daemon_counts count_nodes(const std::vector<daemon_node>& nodes) {
  daemon_counts counts;
  for (const auto& node : nodes) {
    if (!node.fit.runs) {
      counts.misscheduled += node.pods.empty() ? 0 : 1;
      continue;
    }
    ++counts.desired;
    if (node.pods.empty()) continue;
    ++counts.current;
    const auto& oldest = node.pods.front();
    counts.ready += oldest.ready ? 1 : 0;
    counts.available += oldest.ready && oldest.available ? 1 : 0;
    counts.updated += oldest.current ? 1 : 0;
  }
  return counts;
}

}  // namespace troupe::actors::daemon_sets
