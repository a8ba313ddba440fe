#include "actors/controllers/deployments/rolling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace troupe::actors::deployments {

namespace {

// A size fits 32 bits, a sum of sizes may not.
constexpr std::int64_t largest_size = std::numeric_limits<std::int32_t>::max();

std::int32_t to_size(std::int64_t count) {
  return static_cast<std::int32_t>(std::min(count, largest_size));
}

std::int64_t sum_wanted(const std::vector<set_size>& sets) {
  return std::accumulate(sets.begin(), sets.end(), std::int64_t{0},
                         [](std::int64_t sum, const set_size& s) { return sum + s.wanted; });
}

// Pods that a set has yet to delete count.
std::int64_t sum_pods(const std::vector<set_size>& sets) {
  return std::accumulate(
      sets.begin(), sets.end(), std::int64_t{0},
      [](std::int64_t sum, const set_size& s) { return sum + std::max(s.wanted, s.pods); });
}

// Available pods without those that the set has yet to delete.
std::int32_t lasting(const set_size& set) {
  return std::min(set.available, set.wanted);
}

std::vector<set_size> oldest_first(std::vector<set_size> sets) {
  std::stable_sort(sets.begin(), sets.end(), [](const set_size& a, const set_size& b) {
    return std::tie(a.created, a.key) < std::tie(b.created, b.key);
  });
  return sets;
}

// The change of the set's size if all sets keep their share of replicas + surge.
std::int64_t share(const set_size& set, std::int32_t replicas, std::int64_t allowed,
                   std::int64_t total) {
  if (replicas == 0) return -set.wanted;
  const std::int64_t base = set.max_when_sized > 0 ? set.max_when_sized : total;
  if (base == 0) return 0;
  const double target =
      static_cast<double>(set.wanted) * static_cast<double>(allowed) / static_cast<double>(base);
  return to_size(std::lround(target)) - set.wanted;
}

}  // namespace

fenceposts resolve(std::int32_t surge, std::int32_t unavailable, std::int32_t replicas) {
  fenceposts posts{surge, std::min(unavailable, replicas)};
  if (posts.surge == 0 && posts.unavailable == 0) posts.unavailable = 1;
  return posts;
}

std::int32_t new_set_size(std::int32_t replicas, const fenceposts& posts, const set_size& fresh,
                          const std::vector<set_size>& old) {
  const auto room =
      std::int64_t{replicas} + posts.surge - (sum_pods(old) + std::max(fresh.wanted, fresh.pods));
  if (room <= 0) return fresh.wanted;
  return to_size(fresh.wanted +
                 std::clamp<std::int64_t>(std::int64_t{replicas} - fresh.wanted, 0, room));
}

std::vector<resize> shrink_old_sets(std::int32_t replicas, const fenceposts& posts,
                                    const set_size& fresh, const std::vector<set_size>& old) {
  const auto min_available = replicas - posts.unavailable;
  const auto fresh_unavailable = std::max(fresh.wanted - fresh.available, 0);
  auto budget = sum_wanted(old) + fresh.wanted - min_available - fresh_unavailable;
  if (budget <= 0) return {};

  auto sets = oldest_first(old);
  for (auto& set : sets) {
    const auto broken = std::clamp<std::int64_t>(set.wanted - set.available, 0, budget);
    set.wanted -= to_size(broken);
    budget -= broken;
  }

  std::int64_t available = lasting(fresh);
  for (const auto& set : sets)
    available += lasting(set);
  auto spare = available - min_available;
  for (auto& set : sets) {
    const auto fewer = std::clamp<std::int64_t>(set.wanted, 0, std::max(spare, std::int64_t{0}));
    set.wanted -= to_size(fewer);
    spare -= fewer;
  }

  std::vector<resize> result;
  for (const auto& set : sets) {
    const auto before =
        std::find_if(old.begin(), old.end(), [&](const set_size& o) { return o.key == set.key; });
    if (before->wanted != set.wanted) result.push_back({set.key, set.wanted});
  }
  return result;
}

std::vector<resize> scale_in_proportion(std::int32_t replicas, const fenceposts& posts,
                                        std::vector<set_size> active) {
  const auto total = sum_wanted(active);
  const std::int64_t allowed = replicas > 0 ? to_size(std::int64_t{replicas} + posts.surge) : 0;
  const auto to_add = allowed - total;
  // The largest first; of equal sets the newest grows first, and the oldest shrinks first.
  std::stable_sort(active.begin(), active.end(), [&](const set_size& a, const set_size& b) {
    if (a.wanted != b.wanted) return a.wanted > b.wanted;
    return to_add > 0 ? a.created > b.created : a.created < b.created;
  });

  std::vector<resize> result;
  constexpr std::int64_t none = 0;
  std::int64_t added = 0;
  for (const auto& set : active) {
    const auto left = to_add - added;
    const auto wish = set.wanted == 0 ? none : share(set, replicas, allowed, total);
    const auto change = to_add >= 0 ? std::clamp(wish, none, std::max(left, none))
                                    : std::clamp(wish, std::min(left, none), none);
    added += change;
    result.push_back({set.key, to_size(set.wanted + change)});
  }
  for (std::size_t i = 0; i < result.size() && added != to_add; ++i) {
    const auto change = std::max(to_add - added, -std::int64_t{result[i].to});
    result[i].to = to_size(result[i].to + change);
    added += change;
  }
  return result;
}

}  // namespace troupe::actors::deployments
