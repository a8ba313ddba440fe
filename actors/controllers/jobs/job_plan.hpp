// What a job needs next, from the job, its pods and the time alone (kubernetes: job_controller.go,
// syncJob). Pure.
//
// A pod is counted in the transaction that takes its finalizer away, and in no other: the numbers
// of the status are exact whatever is killed. status.uncountedTerminatedPods, which upstream needs
// because it writes the two one after the other, stays empty; what another controller has left in
// it is counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/controllers/jobs/job_stock.hpp"
#include "api/schema/batch_v1.pb.h"

namespace troupe::actors::jobs {

struct planned_event {
  bool warning = false;
  std::string reason, message;
};

struct job_plan {
  // Written first, in one transaction with the pods that lose their finalizer.
  api::batch::v1::JobStatus status;
  std::vector<api::object_ptr> release;
  std::vector<planned_event> events;  // about that transaction
  // Then one of these.
  std::vector<api::object_ptr> remove;
  std::vector<planned_pod> create;

  failure_record failures;
  std::optional<std::int64_t> look_at;  // seconds since the epoch: time alone changes the plan then
};

// `known`: of the plan before; pods that have gone are remembered by it.
job_plan make_plan(const api::batch::v1::Job& job, const std::vector<job_pod>& pods,
                   const failure_record& known, std::int64_t now);

// Complete or Failed: its status does not change any more.
bool is_finished(const api::batch::v1::Job& job);
// When it was finished; seconds since the epoch.
std::int64_t finished_at(const api::batch::v1::Job& job);
// Another controller runs it (spec.managedBy).
bool is_managed_elsewhere(const api::batch::v1::Job& job);

// When a pod may follow `failures` failures, the last of which was at `last`.
std::int64_t backoff_ends_at(std::int32_t failures, std::int64_t last);

}  // namespace troupe::actors::jobs
