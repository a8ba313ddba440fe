// Evaluates a job's podFailurePolicy for a failed pod: the first matching rule applies (kubernetes:
// job/pod_failure_policy.go). Pure functions.
#pragma once

#include <string>

#include "api/schema/batch_v1.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::jobs {

enum class failure_action { count, ignore, fail_index, fail_job };

struct failure_verdict {
  failure_action action = failure_action::count;  // `count` if no rule matches
  std::string message = {};                       // of fail_job: for the condition
};

failure_verdict evaluate_failure(const api::batch::v1::JobSpec& job, const api::core::v1::Pod& pod);

}  // namespace troupe::actors::jobs
