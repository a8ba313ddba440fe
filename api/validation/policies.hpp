// Rules of policies and webhooks; for the table of rows (kinds/). `out.at`: path of the
// object.
#pragma once

#include "api/schema/admission_policy.pb.h"
#include "api/schema/admission_v1.pb.h"
#include "api/validation/field_errors.hpp"

namespace troupe::api::validation {

void check(field_errors& out,
           const admissionregistration::v1::ValidatingWebhookConfiguration& object);
void check(field_errors& out,
           const admissionregistration::v1::MutatingWebhookConfiguration& object);
void check(field_errors& out, const admissionregistration::v1::ValidatingAdmissionPolicy& object);
void check(field_errors& out,
           const admissionregistration::v1::ValidatingAdmissionPolicyBinding& object);

}  // namespace troupe::api::validation
