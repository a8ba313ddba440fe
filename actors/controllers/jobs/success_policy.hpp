// Whether a job is done by its successPolicy before all its indexes are (kubernetes:
// job/success_policy.go). Pure.
#pragma once

#include <optional>
#include <string>

#include "actors/controllers/jobs/indexes.hpp"
#include "api/schema/batch_v1.pb.h"

namespace troupe::actors::jobs {

// The message of the condition SuccessCriteriaMet; nothing where no rule is met.
std::optional<std::string> met_success_rule(const api::batch::v1::JobSpec& job,
                                            const index_set& succeeded);

}  // namespace troupe::actors::jobs
