// Rules of limits, runtimes, certificates and request priorities; for the table of rows (kinds/).
// `out.at` is the path of the object.
#pragma once

#include "api/schema/certificates_v1.pb.h"
#include "api/schema/core_quota.pb.h"
#include "api/schema/flowcontrol_v1.pb.h"
#include "api/schema/node_v1.pb.h"
#include "api/validation/field_errors.hpp"

namespace troupe::api::validation {

void check(field_errors& out, const core::v1::ResourceQuota& object);
void check_update(field_errors& out, const core::v1::ResourceQuota& now,
                  const core::v1::ResourceQuota& was);
void check(field_errors& out, const core::v1::LimitRange& object);

void check(field_errors& out, const node::v1::RuntimeClass& object);

void check(field_errors& out, const certificates::v1::CertificateSigningRequest& object);
void check_create(field_errors& out, const certificates::v1::CertificateSigningRequest& object);
// For a write of status or approval.
void check_status(field_errors& out, const certificates::v1::CertificateSigningRequest& now,
                  const certificates::v1::CertificateSigningRequest& was);

void check(field_errors& out, const flowcontrol::v1::FlowSchema& object);
void check(field_errors& out, const flowcontrol::v1::PriorityLevelConfiguration& object);

}  // namespace troupe::api::validation
