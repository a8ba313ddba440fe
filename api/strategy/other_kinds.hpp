// Write rules of the kinds of storage, networks and the cluster, by type; for the table of rows
// (kinds/).
#pragma once

#include "api/kind.hpp"
#include "api/schema/certificates_v1.pb.h"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/core_quota.pb.h"
#include "api/schema/flowcontrol_v1.pb.h"
#include "api/schema/networking_policy.pb.h"
#include "api/schema/storage_v1.pb.h"

namespace troupe::api {

// -- defaults that are computed; kubernetes: pkg/apis/*/v1/defaults.go ----------------------------

void complete(core::v1::LimitRange& object);
void complete(networking::v1::NetworkPolicy& object);
void complete(storage::v1::CSIDriver& object);
void complete(flowcontrol::v1::PriorityLevelConfiguration& object);

// -- volumes --------------------------------------------------------------------------------------

// Pending, until a controller handles it.
void begin(core::v1::PersistentVolume& object);
void begin(core::v1::PersistentVolumeClaim& object);

// -- requests for certificates --------------------------------------------------------------------

// The request and its author are immutable.
void keep_request(certificates::v1::CertificateSigningRequest& now,
                  const certificates::v1::CertificateSigningRequest& was);
// For a status write: a signer must not approve or deny.
void keep_decisions(certificates::v1::CertificateSigningRequest& now,
                    const certificates::v1::CertificateSigningRequest& was);
// For an approval, instead of prepare_status_update: an approver must not sign.
void prepare_approval(const kind_info& kind, body& now, const body& was);

}  // namespace troupe::api
