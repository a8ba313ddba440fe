// The status of a Deployment: sums over its ReplicaSets, and the conditions that `kubectl
// rollout status` and `kubectl wait` read (kubernetes: deployment/progress.go, sync.go). Pure
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/controllers/deployments/deployment_view.hpp"

namespace troupe::actors::deployments {

// An event of the current sync that the condition Progressing reports.
struct progress_note {
  std::string
      reason;  // NewReplicaSetCreated, FoundNewReplicaSet, DeploymentPaused, DeploymentResumed
  std::string message;
};

// `now`: seconds since the epoch. `failure`: why the new set could not be created.
api::apps::v1::DeploymentStatus calculate_status(const deployment_view& deployment,
                                                 const set_family& family,
                                                 const std::optional<progress_note>& note,
                                                 const std::optional<std::string>& failure,
                                                 std::int64_t now);

// True if the new set has all pods, all are available, and the old sets have none (kubernetes:
// deployment/util.DeploymentComplete).
bool is_complete(const deployment_view& deployment, const api::apps::v1::DeploymentStatus& status);

// Seconds until the progress deadline; nothing if the rollout is complete, has already exceeded it,
// is paused or has no deadline.
std::optional<std::int64_t> deadline_in(const deployment_view& deployment,
                                        const api::apps::v1::DeploymentStatus& status,
                                        std::int64_t now);

}  // namespace troupe::actors::deployments
