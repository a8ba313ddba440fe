#include "actors/controllers/replication/replica_status.hpp"

#include <algorithm>

namespace troupe::actors::replication {

namespace {

constexpr const char* failure_type = "ReplicaFailure";

}  // namespace

replica_status calculate_status(const replica_status& before, const replica_counts& counts,
                                std::int64_t generation,
                                const std::optional<replica_failure>& failure, std::int64_t now) {
  replica_status status{.replicas = counts.active,
                        .fully_labeled = counts.fully_labeled,
                        .ready = counts.ready,
                        .available = counts.available,
                        .observed_generation = std::max(generation, before.observed_generation),
                        .conditions = before.conditions};
  const auto is_failure = [](const replica_condition& c) { return c.type == failure_type; };
  const auto known = std::find_if(status.conditions.begin(), status.conditions.end(), is_failure);
  if (!failure) {
    if (known != status.conditions.end()) status.conditions.erase(known);
  } else if (known == status.conditions.end()) {
    status.conditions.push_back({failure_type, "True", failure->reason, failure->message, now});
  } else if (known->reason != failure->reason &&
             (known->reason == waiting_for_nodes || failure->reason == waiting_for_nodes)) {
    known->reason = failure->reason;
    known->message = failure->message;
  }
  return status;
}

}  // namespace troupe::actors::replication
