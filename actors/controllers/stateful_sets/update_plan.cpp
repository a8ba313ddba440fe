#include "actors/controllers/stateful_sets/update_plan.hpp"

#include <optional>

namespace troupe::actors::stateful_sets {

namespace {

// The end of the range of ordinals, exclusive. start and replicas have 32 bits each.
std::int64_t end_of(const set_rules& rules) {
  return std::int64_t{rules.start} + rules.replicas;
}

bool wanted(const set_rules& rules, std::int32_t ordinal) {
  return ordinal >= rules.start && ordinal < end_of(rules);
}

// The revision of a pod that is created now.
const std::string& revision_for(const set_rules& rules, std::int64_t ordinal) {
  const bool below_partition = ordinal < std::int64_t{rules.start} + rules.partition;
  return !rules.on_delete && below_partition ? rules.current : rules.update;
}

// Of the wanted ordinals first, then of the others: like upstream, this one may be condemned
// although it is not healthy, if all before it are.
std::optional<std::int32_t> first_unhealthy(const set_rules& rules, const set_pods& pods) {
  for (std::int64_t i = rules.start; i < end_of(rules); ++i) {
    const auto found = pods.find(static_cast<std::int32_t>(i));
    if (found == pods.end() || !found->second.healthy()) return static_cast<std::int32_t>(i);
  }
  for (const auto& [ordinal, pod] : pods)
    if (!wanted(rules, ordinal) && !pod.healthy()) return ordinal;
  return std::nullopt;
}

// Returns false if an ordered set must wait, or the sync's limit of creations is reached.
bool plan_wanted(const set_rules& rules, const set_pods& pods, std::vector<set_step>& steps) {
  auto left = rules.burst;
  for (std::int64_t i = rules.start; i < end_of(rules); ++i) {
    const auto ordinal = static_cast<std::int32_t>(i);
    const auto found = pods.find(ordinal);
    if (found == pods.end()) {
      if (left-- == 0) return false;
      steps.push_back({step_kind::create, ordinal, revision_for(rules, i)});
      if (rules.ordered) return false;
      continue;
    }
    const auto& pod = found->second;
    if (pod.failed || pod.succeeded) {
      if (!pod.terminating) steps.push_back({step_kind::recreate, ordinal});
      if (rules.ordered) return false;
      continue;
    }
    if (!pod.terminating) steps.push_back({step_kind::keep, ordinal});
    if (rules.ordered && (!pod.healthy() || !pod.available)) return false;
  }
  return true;
}

// From the highest ordinal down; one at a time in an ordered set.
bool plan_condemned(const set_rules& rules, const set_pods& pods, std::vector<set_step>& steps) {
  const auto excused = first_unhealthy(rules, pods);
  for (auto each = pods.rbegin(); each != pods.rend(); ++each) {
    const auto& [ordinal, pod] = *each;
    if (wanted(rules, ordinal)) continue;
    if (rules.ordered) {
      const bool well = pod.ready && pod.available;
      if (pod.terminating || (!well && excused != ordinal)) return false;
      steps.push_back({step_kind::condemn, ordinal});
      return false;
    }
    if (!pod.terminating) steps.push_back({step_kind::condemn, ordinal});
  }
  return true;
}

// Highest first. With a maximum of 1 the first outdated pod is replaced, healthy or not, once all
// above it are healthy; with more, as many are replaced as the maximum allows unavailable.
void plan_update(const set_rules& rules, const set_pods& pods, std::vector<set_step>& steps) {
  const auto lowest = std::int64_t{rules.start} + rules.partition;
  std::int64_t away = 0;
  if (rules.max_unavailable > 1)
    for (auto i = lowest; i < end_of(rules); ++i) {
      const auto found = pods.find(static_cast<std::int32_t>(i));
      if (found == pods.end() || !found->second.healthy() || !found->second.available) ++away;
    }
  auto room = rules.max_unavailable - away;
  for (auto i = end_of(rules) - 1; i >= lowest && room > 0; --i) {
    const auto found = pods.find(static_cast<std::int32_t>(i));
    const bool there = found != pods.end() && !found->second.terminating;
    if (there && found->second.revision != rules.update) {
      steps.push_back({step_kind::replace, found->first});
      --room;
    } else if (rules.max_unavailable == 1 &&
               !(there && found->second.healthy() && found->second.available)) {
      return;
    }
  }
}

}  // namespace

std::vector<set_step> plan_set(const set_rules& rules, const set_pods& pods) {
  std::vector<set_step> steps;
  if (!plan_wanted(rules, pods, steps) || !plan_condemned(rules, pods, steps)) return steps;
  if (!rules.on_delete) plan_update(rules, pods, steps);
  return steps;
}

set_counts count_pods(const set_rules& rules, const set_pods& pods) {
  set_counts counts;
  for (const auto& [ordinal, pod] : pods) {
    ++counts.replicas;
    counts.ready += pod.ready ? 1 : 0;
    counts.available += pod.ready && pod.available ? 1 : 0;
    if (pod.terminating) continue;
    counts.current += pod.revision == rules.current ? 1 : 0;
    counts.updated += pod.revision == rules.update ? 1 : 0;
  }
  return counts;
}

bool update_is_complete(const set_rules& rules, const set_counts& counts) {
  return !rules.on_delete && counts.updated == rules.replicas && counts.ready == rules.replicas &&
         counts.replicas == rules.replicas;
}

}  // namespace troupe::actors::stateful_sets
