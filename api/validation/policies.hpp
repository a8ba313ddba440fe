// Rules of policies and webhooks; for the table of rows (kinds/). `out.at`: path of the
// object.
#pragma once

#include "api/schema/admission_policy.pb.h"
#include "api/schema/admission_v1.pb.h"
#include "api/validation/findings.hpp"

namespace troupe::api::validation {

void check(findings& out, const admissionregistration::v1::ValidatingWebhookConfiguration& object);
void check(findings& out, const admissionregistration::v1::MutatingWebhookConfiguration& object);
void check(findings& out, const admissionregistration::v1::ValidatingAdmissionPolicy& object);
void check(findings& out,
           const admissionregistration::v1::ValidatingAdmissionPolicyBinding& object);

}  // namespace troupe::api::validation
