#include "actors/deployments/deployment_status.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace troupe::actors::deployments {

namespace {

using api::apps::v1::DeploymentCondition;
using api::apps::v1::DeploymentStatus;

DeploymentCondition* find_mutable(DeploymentStatus& status, const std::string& type) {
  for (auto& condition : *status.mutable_conditions())
    if (condition.type() == type) return &condition;
  return nullptr;
}

// lastTransitionTime moves with the status only, lastUpdateTime with any change.
void set_condition(DeploymentStatus& status, const std::string& type, const std::string& value,
                   const std::string& reason, const std::string& message, std::int64_t now) {
  auto* condition = find_mutable(status, type);
  if (condition != nullptr && condition->status() == value && condition->reason() == reason &&
      condition->message() == message)
    return;
  if (condition == nullptr) {
    condition = status.add_conditions();
    condition->set_type(type);
  }
  if (condition->status() != value) condition->mutable_last_transition_time()->set_seconds(now);
  condition->set_status(value);
  condition->set_reason(reason);
  condition->set_message(message);
  condition->mutable_last_update_time()->set_seconds(now);
}

void add_up(const deployment_view& deployment, const set_family& family, DeploymentStatus& status) {
  std::int32_t total = 0, ready = 0, available = 0, wanted = 0;
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
  status.set_unavailable_replicas(std::max(wanted - available, 0));
  status.set_observed_generation(deployment.meta().generation());
}

void tell_availability(const deployment_view& deployment, DeploymentStatus& status,
                       std::int64_t now) {
  const auto least = deployment.spec().replicas() - deployment.posts().unavailable;
  if (status.available_replicas() >= least) {
    set_condition(status, "Available", "True", "MinimumReplicasAvailable",
                  "Deployment has minimum availability.", now);
  } else {
    set_condition(status, "Available", "False", "MinimumReplicasUnavailable",
                  "Deployment does not have minimum availability.", now);
  }
}

bool moved(const DeploymentStatus& before, const DeploymentStatus& status) {
  return status.updated_replicas() > before.updated_replicas() ||
         status.replicas() - status.updated_replicas() <
             before.replicas() - before.updated_replicas() ||
         status.ready_replicas() > before.ready_replicas() ||
         status.available_replicas() > before.available_replicas();
}

bool is_complete(const deployment_view& deployment, const DeploymentStatus& status) {
  const auto replicas = deployment.spec().replicas();
  return status.updated_replicas() == replicas && status.replicas() == replicas &&
         status.available_replicas() == replicas;
}

void tell_progress(const deployment_view& deployment, const set_family& family,
                   const DeploymentStatus& before, DeploymentStatus& status, std::int64_t now) {
  const auto subject = family.fresh ? fmt::format("ReplicaSet \"{}\"", family.fresh->name())
                                    : fmt::format("Deployment \"{}\"", deployment.meta().name());
  const auto* known = find_condition(status, "Progressing");
  const bool done_before = known != nullptr && known->reason() == "NewReplicaSetAvailable" &&
                           is_complete(deployment, before);
  if (is_complete(deployment, status)) {
    if (!done_before)
      set_condition(status, "Progressing", "True", "NewReplicaSetAvailable",
                    subject + " has successfully progressed.", now);
  } else if (moved(before, status)) {
    // Told anew each time, so that the deadline counts from the last progress.
    if (auto* condition = find_mutable(status, "Progressing"))
      condition->mutable_last_update_time()->set_seconds(now);
    set_condition(status, "Progressing", "True", "ReplicaSetUpdated", subject + " is progressing.",
                  now);
  } else if (const auto left = deadline_in(deployment, status, now); left && *left <= 0) {
    set_condition(status, "Progressing", "False", "ProgressDeadlineExceeded",
                  subject + " has timed out progressing.", now);
  }
}

}  // namespace

const DeploymentCondition* find_condition(const DeploymentStatus& status, const std::string& type) {
  for (const auto& condition : status.conditions())
    if (condition.type() == type) return &condition;
  return nullptr;
}

std::optional<std::int64_t> deadline_in(const deployment_view& deployment,
                                        const DeploymentStatus& status, std::int64_t now) {
  if (!deployment.has_progress_deadline() || deployment.spec().paused() ||
      is_complete(deployment, status))
    return std::nullopt;
  const auto* progressing = find_condition(status, "Progressing");
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
  tell_availability(deployment, status, now);
  if (deployment.has_progress_deadline()) {
    if (note) {
      const bool open = note->reason == "DeploymentPaused" || note->reason == "DeploymentResumed";
      set_condition(status, "Progressing", open ? "Unknown" : "True", note->reason, note->message,
                    now);
    }
    if (!deployment.spec().paused()) tell_progress(deployment, family, before, status, now);
  }
  if (failure) {
    set_condition(status, "ReplicaFailure", "True", "ReplicaSetCreateError", *failure, now);
  } else {
    auto& conditions = *status.mutable_conditions();
    for (int i = conditions.size() - 1; i >= 0; --i)
      if (conditions[i].type() == "ReplicaFailure") conditions.DeleteSubrange(i, 1);
  }
  return status;
}

}  // namespace troupe::actors::deployments
