// Ranks the pods to delete when a controller scales down: upstream's eight rules
// (controller.ActivePodsWithRanks) as one key for each pod, so that ten thousand pods sort in
// milliseconds.
//
// Two rules compare ages by powers of two (a pod of 40 s and one of 60 s are "equally old").
// Upstream breaks such a tie by uid at once, so its order is cyclic for some triples; here a tie
// goes to the next rule and the uid comes last, which gives a strict weak order.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "actors/controllers/replication/pod_record.hpp"

namespace troupe::actors::replication {

// Smaller is deleted first. The members are in the order of the rules.
struct ranking_key {
  bool assigned = false;
  pod_phase phase = pod_phase::pending;
  bool ready = false;
  std::int32_t deletion_cost = 0;
  std::int32_t neighbours = 0;        // negated: pods of related controllers on the same node
  std::int8_t ready_age = 0;          // log2 of the seconds since it became ready
  std::int32_t restarts = 0;          // negated: of the container that restarted most
  std::int32_t sidecar_restarts = 0;  // negated: of the sidecar that restarted most
  std::int8_t age = 0;                // log2 of the seconds since creation
  std::string_view uid;

  friend auto operator<=>(const ranking_key&, const ranking_key&) = default;
};

// `neighbours`: active pods of related controllers (same owner) on the pod's node. `now`: seconds
// since the epoch.
ranking_key rank(const pod_record& pod, std::int32_t neighbours, std::int64_t now);

// The first `count` pods to delete, in order.
std::vector<const pod_record*> choose_victims(const std::vector<const pod_record*>& active,
                                              const std::vector<std::int32_t>& neighbours,
                                              std::size_t count, std::int64_t now);

}  // namespace troupe::actors::replication
