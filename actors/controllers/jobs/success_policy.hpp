// Evaluates a Job's successPolicy: whether the Job succeeds before all indexes have (kubernetes:
// job/success_policy.go). Pure functions.
#pragma once

#include <optional>
#include <string>

#include "actors/controllers/jobs/indexes.hpp"
#include "api/schema/batch_v1.pb.h"

namespace troupe::actors::jobs {

// The message of the condition SuccessCriteriaMet; nothing if no rule matches.
std::optional<std::string> met_success_rule(const api::batch::v1::JobSpec& job,
                                            const index_set& succeeded);

}  // namespace troupe::actors::jobs
