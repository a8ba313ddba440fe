#include "actors/controllers/replication/ranking.hpp"

#include <algorithm>
#include <bit>

namespace troupe::actors::replication {

namespace {

// -1 for "not yet" (a clock that is behind, a missing time), otherwise log2 of the seconds.
std::int8_t age_bucket(std::int64_t since, std::int64_t now) {
  if (since == 0 || since >= now) return -1;
  return static_cast<std::int8_t>(std::bit_width(static_cast<std::uint64_t>(now - since)));
}

}  // namespace

ranking_key rank(const pod_record& pod, std::int32_t neighbours, std::int64_t now) {
  return {.assigned = pod.assigned,
          .phase = pod.phase,
          .ready = pod.ready,
          .deletion_cost = pod.deletion_cost,
          .neighbours = -neighbours,
          .ready_age = pod.ready ? age_bucket(pod.ready_since, now) : std::int8_t{0},
          .restarts = -pod.restarts,
          .sidecar_restarts = -pod.sidecar_restarts,
          .age = age_bucket(pod.created, now),
          .uid = pod.uid()};
}

std::vector<const pod_record*> choose_victims(const std::vector<const pod_record*>& active,
                                              const std::vector<std::int32_t>& neighbours,
                                              std::size_t count, std::int64_t now) {
  if (count >= active.size()) return active;  // all of them: ranking is not needed
  std::vector<std::pair<ranking_key, const pod_record*>> ranked;
  ranked.reserve(active.size());
  for (std::size_t i = 0; i < active.size(); ++i)
    ranked.emplace_back(rank(*active[i], neighbours[i], now), active[i]);
  const auto middle = ranked.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(ranked.begin(), middle, ranked.end(),
                    [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const pod_record*> victims;
  victims.reserve(count);
  for (auto it = ranked.begin(); it != middle; ++it)
    victims.push_back(it->second);
  return victims;
}

}  // namespace troupe::actors::replication
