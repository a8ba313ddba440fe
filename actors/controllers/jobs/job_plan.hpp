// Plans the next step of a Job from the Job, its pods and the time (kubernetes: job_controller.go,
// syncJob). Pure functions.
//
// A pod is counted in exactly the transaction that removes its finalizer, so the numbers of the
// status are exact after any crash. status.uncountedTerminatedPods, which upstream needs
// because it writes status and pods separately, stays empty; entries of another controller are
// counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/controllers/jobs/job_state.hpp"
#include "api/schema/batch_v1.pb.h"

namespace troupe::actors::jobs {

struct planned_event {
  bool warning = false;
  std::string reason, message;
};

struct job_plan {
  // Written first, in one transaction with the removal of these pods' finalizers.
  api::batch::v1::JobStatus status;
  std::vector<api::object_ptr> release;
  std::vector<planned_event> events;  // about that transaction
  // Then either of these.
  std::vector<api::object_ptr> remove;
  std::vector<planned_pod> create;

  failure_record failures;
  std::optional<std::int64_t> next_sync;  // seconds since the epoch: the time when the plan changes
};

// `known`: the record of the previous plan; it remembers deleted pods.
job_plan make_plan(const api::batch::v1::Job& job, const std::vector<job_pod>& pods,
                   const failure_record& known, std::int64_t now);

// True if the Job is Complete or Failed: its status is final.
bool is_finished(const api::batch::v1::Job& job);
// When the Job finished, in seconds since the epoch.
std::int64_t finished_at(const api::batch::v1::Job& job);
// True if another controller manages the Job (spec.managedBy).
bool is_managed_elsewhere(const api::batch::v1::Job& job);

// The earliest creation of a pod after `failures` failures, the last one at `last`.
std::int64_t backoff_ends_at(std::int32_t failures, std::int64_t last);

}  // namespace troupe::actors::jobs
