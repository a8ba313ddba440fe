// What a job's podFailurePolicy says about a failed pod: the first rule that fits counts
// (kubernetes: job/pod_failure_policy.go). Pure.
#pragma once

#include <string>

#include "api/schema/batch_v1.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::jobs {

enum class failure_action { count, ignore, fail_index, fail_job };

struct failure_verdict {
  failure_action action = failure_action::count;  // what is done where no rule fits
  std::string message = {};                       // of fail_job: for the condition
};

failure_verdict judge_failure(const api::batch::v1::JobSpec& job, const api::core::v1::Pod& pod);

}  // namespace troupe::actors::jobs
