#include "actors/controllers/deployments/deployment_status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "actors/core/condition.hpp"

namespace troupe::actors::deployments {

namespace {

using api::apps::v1::DeploymentStatus;

// lastTransitionTime moves only with the status, lastUpdateTime with any change.
void put_condition(DeploymentStatus& status, const condition_value& value, std::int64_t now) {
  auto& all = *status.mutable_conditions();
  if (set_condition(all, value, runtime::wall_time{std::chrono::seconds{now}}))
    find_condition(all, value.type)->mutable_last_update_time()->set_seconds(now);
}

void remove_condition(DeploymentStatus& status, std::string_view type) {
  auto& conditions = *status.mutable_conditions();
  for (int i = conditions.size() - 1; i >= 0; --i)
    if (conditions[i].type() == type) conditions.DeleteSubrange(i, 1);
}

void add_up(const deployment_view& deployment, const set_family& family, DeploymentStatus& status) {
  std::int32_t total = 0, ready = 0, available = 0;
  std::int64_t wanted = 0;
  for (const auto& set : family.all()) {
    total += set.body().status().replicas();
    ready += set.body().status().ready_replicas();
    available += set.body().status().available_replicas();
    wanted += set.wanted();
  }
  status.set_replicas(total);
  status.set_updated_replicas(family.fresh ? family.fresh->body().status().replicas() : 0);
  status.set_ready_replicas(ready);
  status.set_available_replicas(available);
  status.set_unavailable_replicas(static_cast<std::int32_t>(
      std::clamp<std::int64_t>(wanted - available, 0, std::numeric_limits<std::int32_t>::max())));
  status.set_observed_generation(deployment.meta().generation());
}

void set_availability(const deployment_view& deployment, DeploymentStatus& status,
                      std::int64_t now) {
  const auto least = deployment.spec().replicas() - deployment.posts().unavailable;
  if (status.available_replicas() >= least) {
    put_condition(
        status,
        {"Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability."},
        now);
  } else {
    put_condition(status,
                  {"Available", "False", "MinimumReplicasUnavailable",
                   "Deployment does not have minimum availability."},
                  now);
  }
}

bool moved(const DeploymentStatus& before, const DeploymentStatus& status) {
  return status.updated_replicas() > before.updated_replicas() ||
         status.replicas() - status.updated_replicas() <
             before.replicas() - before.updated_replicas() ||
         status.ready_replicas() > before.ready_replicas() ||
         status.available_replicas() > before.available_replicas();
}

void set_progress(const deployment_view& deployment, const set_family& family,
                  const DeploymentStatus& before, DeploymentStatus& status, std::int64_t now) {
  const auto subject = family.fresh ? fmt::format("ReplicaSet \"{}\"", family.fresh->name())
                                    : fmt::format("Deployment \"{}\"", deployment.meta().name());
  const auto* known = find_condition(status.conditions(), "Progressing");
  // A completed rollout stays complete, whatever happens to its pods later.
  if (known != nullptr && known->reason() == "NewReplicaSetAvailable" &&
      status.replicas() == status.updated_replicas())
    return;
  if (is_complete(deployment, status)) {
    const auto message = subject + " has successfully progressed.";
    put_condition(status, {"Progressing", "True", "NewReplicaSetAvailable", message}, now);
  } else if (moved(before, status)) {
    const auto message = subject + " is progressing.";
    put_condition(status, {"Progressing", "True", "ReplicaSetUpdated", message}, now);
    // Updated each time, so that the deadline counts from the last progress.
    find_condition(*status.mutable_conditions(), "Progressing")
        ->mutable_last_update_time()
        ->set_seconds(now);
  } else if (const auto left = deadline_in(deployment, status, now); left && *left <= 0) {
    const auto message = subject + " has timed out progressing.";
    put_condition(status, {"Progressing", "False", "ProgressDeadlineExceeded", message}, now);
  }
}

// Reports the ReplicaFailure of a set on the Deployment, that of the new set first.
void set_failure(const set_family& family, DeploymentStatus& status, std::int64_t now) {
  auto sets = family.all();
  std::reverse(sets.begin(), sets.end());
  for (const auto& set : sets) {
    const auto* failure = find_condition(set.body().status().conditions(), "ReplicaFailure");
    if (failure == nullptr) continue;
    return put_condition(
        status, {failure->type(), failure->status(), failure->reason(), failure->message()}, now);
  }
  remove_condition(status, "ReplicaFailure");
}

}  // namespace

bool is_complete(const deployment_view& deployment, const DeploymentStatus& status) {
  const auto replicas = deployment.spec().replicas();
  return status.updated_replicas() == replicas && status.replicas() == replicas &&
         status.available_replicas() == replicas &&
         status.observed_generation() >= deployment.meta().generation();
}

std::optional<std::int64_t> deadline_in(const deployment_view& deployment,
                                        const DeploymentStatus& status, std::int64_t now) {
  if (!deployment.has_progress_deadline() || deployment.spec().paused() ||
      is_complete(deployment, status))
    return std::nullopt;
  const auto* progressing = find_condition(status.conditions(), "Progressing");
  if (progressing == nullptr || progressing->reason() == "NewReplicaSetAvailable" ||
      progressing->reason() == "ProgressDeadlineExceeded" ||
      progressing->reason() == "DeploymentPaused")
    return std::nullopt;
  return progressing->last_update_time().seconds() + deployment.spec().progress_deadline_seconds() -
         now;
}

DeploymentStatus calculate_status(const deployment_view& deployment, const set_family& family,
                                  const std::optional<progress_note>& note,
                                  const std::optional<std::string>& failure, std::int64_t now) {
  const auto& before = deployment.body().status();
  DeploymentStatus status{before};
  add_up(deployment, family, status);
  set_availability(deployment, status, now);
  if (deployment.has_progress_deadline()) {
    if (note) {
      const bool open = note->reason == "DeploymentPaused" || note->reason == "DeploymentResumed";
      put_condition(status, {"Progressing", open ? "Unknown" : "True", note->reason, note->message},
                    now);
    }
    if (failure) {
      put_condition(status, {"Progressing", "False", "ReplicaSetCreateError", *failure}, now);
    } else if (!deployment.spec().paused()) {
      set_progress(deployment, family, before, status, now);
    }
  } else {
    remove_condition(status, "Progressing");
  }
  set_failure(family, status, now);
  return status;
}

}  // namespace troupe::actors::deployments
