// Which pods go first when a controller scales down: upstream's eight rules
// (controller.ActivePodsWithRanks) as one key per pod, so that ten thousand pods sort in
// milliseconds.
//
// Two rules compare ages by powers of two (a pod of 40 s and one of 60 s are "equally old").
// Upstream breaks such a tie by uid at once, which makes its order cyclic for some triples; here a
// tie goes on to the next rule and the uid comes last, so that the order is a strict weak one.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "actors/controllers/replication/pod_record.hpp"

namespace troupe::actors::replication {

// Smaller goes first. The members stand in the order of the rules.
struct ranking_key {
  bool assigned = false;
  pod_phase phase = pod_phase::pending;
  bool ready = false;
  std::int32_t deletion_cost = 0;
  std::int32_t neighbours = 0;        // negated: pods of related controllers on the same node
  std::int8_t ready_age = 0;          // log2 of the time it has been ready
  std::int32_t restarts = 0;          // negated: of the container that restarted most
  std::int32_t sidecar_restarts = 0;  // negated: the same of sidecars
  std::int8_t age = 0;                // log2 of the time since creation
  std::string_view uid;

  friend auto operator<=>(const ranking_key&, const ranking_key&) = default;
};

// `neighbours`: active pods of related controllers (same owner) on the pod's node. `now` in seconds
// since the epoch.
ranking_key rank(const pod_record& pod, std::int32_t neighbours, std::int64_t now);

// The `count` pods to delete first, in order.
std::vector<const pod_record*> choose_victims(const std::vector<const pod_record*>& active,
                                              const std::vector<std::int32_t>& neighbours,
                                              std::size_t count, std::int64_t now);

}  // namespace troupe::actors::replication
