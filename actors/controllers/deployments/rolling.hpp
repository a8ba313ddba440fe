// How a Deployment moves its pods from old ReplicaSets to the new one: pure arithmetic on sizes
// (kubernetes: pkg/controller/deployment/util and rolling.go).
//
// Two promises hold at every step: never more pods than replicas + surge, and never so few
// available ones that fewer than replicas - unavailable are left by our doing. Sizes and statuses
// of the sets come at different times, so pods that a set has not yet ended count as there, and
// those that it has yet to end do not count as available.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe::actors::deployments {

// Pods above and below the wanted number that a rolling update may have. At least one of them is
// above 0, or nothing could ever move.
struct fenceposts {
  std::int32_t surge = 0;
  std::int32_t unavailable = 0;
};

// An absolute number, or a percentage of the replicas.
struct amount {
  std::int32_t value = 0;
  bool percent = false;
};

// Surge is rounded up, unavailable down; if both come to 0, unavailable is 1.
fenceposts resolve(amount surge, amount unavailable, std::int32_t replicas);

// A ReplicaSet as the arithmetic sees it.
struct set_size {
  std::string key;
  std::int64_t created = 0;    // seconds since the epoch
  std::int32_t wanted = 0;     // spec.replicas
  std::int32_t pods = 0;       // status.replicas
  std::int32_t available = 0;  // status.availableReplicas
  // What replicas + surge was when the set was last sized (annotation max-replicas); 0 when
  // unknown.
  std::int32_t max_when_sized = 0;

  friend bool operator==(const set_size&, const set_size&) = default;
};

// A set and the size it is to get.
struct resize {
  std::string key;
  std::int32_t to = 0;

  friend bool operator==(const resize&, const resize&) = default;
};

// The size of the new set: as large as the others leave room for under replicas + surge.
std::int32_t new_set_size(std::int32_t replicas, const fenceposts& posts, const set_size& fresh,
                          const std::vector<set_size>& old);

// Shrinks old sets, oldest first: pods that are not available anyway, then as many available ones
// as the new set makes up for.
std::vector<resize> shrink_old_sets(std::int32_t replicas, const fenceposts& posts,
                                    const set_size& fresh, const std::vector<set_size>& old);

// After the Deployment itself was resized in the middle of an update: spreads the difference over
// the active sets in proportion to their sizes; the largest takes what rounding leaves.
std::vector<resize> scale_in_proportion(std::int32_t replicas, const fenceposts& posts,
                                        std::vector<set_size> active);

}  // namespace troupe::actors::deployments
