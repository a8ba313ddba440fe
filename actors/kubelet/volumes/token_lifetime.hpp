// How long a kubelet uses a token before it requests a new one. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

#include "runtime/clock.hpp"

namespace troupe::actors {

// kubernetes: pkg/kubelet/token, requiresRefresh: 80 % of its lifetime, at most 24 h, and up to 10
// s sooner so that the pods of a node do not request at the same time.
inline runtime::duration token_use(std::int64_t lifetime_seconds, std::mt19937_64& random) {
  constexpr std::int64_t longest_seconds = 24 * 3'600, jitter_seconds = 10;
  const auto use = std::min(lifetime_seconds - lifetime_seconds / 5, longest_seconds);
  const auto sooner = static_cast<std::int64_t>(random() % (jitter_seconds + 1));
  return std::chrono::seconds{std::max<std::int64_t>(use - sooner, 1)};
}

}  // namespace troupe::actors
