// Rules of the other workload kinds, of autoscalers and disruption budgets; for the table of rows
// (kinds/). `out.at` is the path of the object.
#pragma once

#include "api/schema/apps_sets.pb.h"
#include "api/schema/autoscaling_v2.pb.h"
#include "api/schema/batch_v1.pb.h"
#include "api/schema/policy_budget.pb.h"
#include "api/validation/field_errors.hpp"

namespace troupe::api {

// The labels that select a job's pods (kubernetes: pkg/apis/batch/types.go).
inline constexpr auto job_uid_label = "batch.kubernetes.io/controller-uid";
inline constexpr auto job_name_label = "batch.kubernetes.io/job-name";
// The names of these labels before 1.27; they are still set.
inline constexpr auto old_job_uid_label = "controller-uid";
inline constexpr auto old_job_name_label = "job-name";

}  // namespace troupe::api

namespace troupe::api::validation {

void check(field_errors& out, const apps::v1::DaemonSet& object);
void check(field_errors& out, const apps::v1::StatefulSet& object);
void check_update(field_errors& out, const apps::v1::StatefulSet& now,
                  const apps::v1::StatefulSet& was);
void check(field_errors& out, const apps::v1::ControllerRevision& object);

void check(field_errors& out, const batch::v1::Job& object);
void check_update(field_errors& out, const batch::v1::Job& now, const batch::v1::Job& was);
void check(field_errors& out, const batch::v1::CronJob& object);

void check(field_errors& out, const autoscaling::v2::HorizontalPodAutoscaler& object);

void check(field_errors& out, const policy::v1::PodDisruptionBudget& object);

}  // namespace troupe::api::validation
