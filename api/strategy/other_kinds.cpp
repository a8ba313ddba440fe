#include "api/strategy/other_kinds.hpp"

#include "api/strategy/defaults.hpp"
#include "api/strategy/special_kinds.hpp"
#include "api/strategy/strategy.hpp"

namespace troupe::api {

namespace {

using certificates::v1::CertificateSigningRequest;
using quantities = google::protobuf::Map<std::string, resource::Quantity>;

// Adds the entries that `into` lacks.
void add_missing(quantities& into, const quantities& from) {
  for (const auto& [name, amount] : from)
    if (!into.contains(name)) into[name] = amount;
}

bool is_decision(const certificates::v1::CertificateSigningRequestCondition& condition) {
  return condition.type() == "Approved" || condition.type() == "Denied";
}

}  // namespace

void complete(core::v1::LimitRange& object) {
  for (auto& item : *object.mutable_spec()->mutable_limits()) {
    if (item.type() != "Container") continue;
    add_missing(*item.mutable_default_(), item.max());
    add_missing(*item.mutable_default_request(), item.default_());
    add_missing(*item.mutable_default_request(), item.min());
  }
}

void complete(networking::v1::NetworkPolicy& object) {
  auto& spec = *object.mutable_spec();
  if (!spec.policy_types().empty()) return;
  spec.add_policy_types("Ingress");
  if (!spec.egress().empty()) spec.add_policy_types("Egress");
}

void complete(storage::v1::CSIDriver& object) {
  auto& spec = *object.mutable_spec();
  if (spec.volume_lifecycle_modes().empty()) spec.add_volume_lifecycle_modes("Persistent");
}

void complete(flowcontrol::v1::PriorityLevelConfiguration& object) {
  auto& spec = *object.mutable_spec();
  if (spec.type() == "Exempt") set_schema_defaults(*spec.mutable_exempt());
}

void begin(core::v1::PersistentVolume& object) {
  clear_status(object);
  object.mutable_status()->set_phase("Pending");
}

void begin(core::v1::PersistentVolumeClaim& object) {
  clear_status(object);
  object.mutable_status()->set_phase("Pending");
}

void keep_request(CertificateSigningRequest& now, const CertificateSigningRequest& was) {
  *now.mutable_spec() = was.spec();
}

void keep_decisions(CertificateSigningRequest& now, const CertificateSigningRequest& was) {
  keep_request(now, was);
  certificates::v1::CertificateSigningRequestStatus kept;
  for (const auto& condition : was.status().conditions())
    if (is_decision(condition)) *kept.add_conditions() = condition;
  for (const auto& condition : now.status().conditions())
    if (!is_decision(condition)) *kept.add_conditions() = condition;
  *now.mutable_status()->mutable_conditions() = std::move(*kept.mutable_conditions());
}

void prepare_approval(const kind_info& kind, body& now, const body& was) {
  auto& request = static_cast<CertificateSigningRequest&>(now);
  const auto& before = static_cast<const CertificateSigningRequest&>(was);
  auto decided = std::move(*request.mutable_status()->mutable_conditions());
  prepare_status_update(kind, now, was);
  *request.mutable_status() = before.status();
  *request.mutable_status()->mutable_conditions() = std::move(decided);
}

}  // namespace troupe::api
