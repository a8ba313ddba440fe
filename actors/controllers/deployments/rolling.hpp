// Plans how a Deployment moves its pods from old ReplicaSets to the new one: pure arithmetic on
// sizes (kubernetes: pkg/controller/deployment/util and rolling.go).
//
// Two invariants hold at every step: there are never more pods than replicas + surge, and the
// controller never reduces the available pods below replicas - unavailable. Spec and status of a
// set change at different times, so pods that a set has yet to delete count as existing but not as
// available.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::actors::deployments {

// Limits of a rolling update: pods above and below the desired number. At least one is positive,
// otherwise the update could not proceed.
struct fenceposts {
  std::int32_t surge = 0;
  std::int32_t unavailable = 0;
};

// If both are 0, unavailable becomes 1.
fenceposts resolve(std::int32_t surge, std::int32_t unavailable, std::int32_t replicas);

// The sizes of a ReplicaSet.
struct set_size {
  std::string key;
  std::int64_t created = 0;    // seconds since the epoch
  std::int32_t wanted = 0;     // spec.replicas
  std::int32_t pods = 0;       // status.replicas
  std::int32_t available = 0;  // status.availableReplicas
  // The value of replicas + surge when the set was last sized (annotation max-replicas); 0 if
  // unknown.
  std::int32_t max_when_sized = 0;

  friend bool operator==(const set_size&, const set_size&) = default;
};

// A set and its new size.
struct resize {
  std::string key;
  std::int32_t to = 0;

  friend bool operator==(const resize&, const resize&) = default;
};

// The size of the new set: as large as replicas + surge allows besides the other sets.
std::int32_t new_set_size(std::int32_t replicas, const fenceposts& posts, const set_size& fresh,
                          const std::vector<set_size>& old);

// Shrinks old sets, oldest first: unavailable pods first, then as many available pods as the new
// set replaces.
std::vector<resize> shrink_old_sets(std::int32_t replicas, const fenceposts& posts,
                                    const set_size& fresh, const std::vector<set_size>& old);

// For a Deployment that was resized during an update: distributes the difference over the active
// sets in proportion to their sizes; the largest set gets the rounding remainder.
std::vector<resize> scale_in_proportion(std::int32_t replicas, const fenceposts& posts,
                                        std::vector<set_size> active);

}  // namespace troupe::actors::deployments
