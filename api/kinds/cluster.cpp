// The rows of limits, priorities, certificates, admission configuration, and usage metrics.
#include "api/conversion/shapes.hpp"
#include "api/kinds/adapters.hpp"
#include "api/object/object.hpp"
#include "api/schema/events_v1.pb.h"
#include "api/schema/metrics_v1beta1.pb.h"

namespace troupe::api::kinds {
namespace {

using namespace admissionregistration::v1;
using certificates::v1::CertificateSigningRequest;
using core::v1::LimitRange;
using core::v1::ResourceQuota;
using flowcontrol::v1::FlowSchema;
using flowcontrol::v1::PriorityLevelConfiguration;
using node::v1::RuntimeClass;
using scheduling::v1::PriorityClass;

constexpr kind_part of_requests[] = {
    {"approval", "certificates.k8s.io", "v1", "CertificateSigningRequest", read_and_write}};

kind_row priority_row() {
  kind_row row;
  row.check = &check_as<PriorityClass>;
  row.columns = priority_columns;
  row.cells = &priority_cells;
  return row;
}

kind_row quota_row() {
  auto row = checked<ResourceQuota>(quota_cells);
  row.check_update = &check_update_as<ResourceQuota>;
  row.deletion_shows_object = true;
  row.updates_a_revision = true;
  return row;
}

kind_row limit_row() {
  auto row = checked<LimitRange>(limit_cells);
  row.complete = &complete_as<LimitRange>;
  return row;
}

kind_row request_row() {
  auto row = checked<CertificateSigningRequest>(certificate_cells);
  row.parts = of_requests;
  row.keep = [](const kind_info&, body& now, const body& was) {
    keep_request(as<CertificateSigningRequest>(now), as<CertificateSigningRequest>(was));
  };
  row.keep_in_status_update = [](body& now, const body& was) {
    keep_decisions(as<CertificateSigningRequest>(now), as<CertificateSigningRequest>(was));
  };
  row.check_create = &check_create_as<CertificateSigningRequest>;
  row.check_status = &check_status_as<CertificateSigningRequest>;
  return row;
}

kind_row level_row() {
  auto row = checked<PriorityLevelConfiguration>(priority_level_cells);
  row.complete = &complete_as<PriorityLevelConfiguration>;
  return row;
}

// Uses the columns of core events.
kind_row newer_event_row() {
  kind_row row;
  row.created_by_update = true;
  row.has_dependents = false;
  row.shape = &event_shape;
  row.check_create = &check_create_as<events::v1::Event>;
  row.columns = event_columns;
  row.cells = [](row_cells& cells, const body& content) {
    core::v1::Event home;
    *home.mutable_metadata() = meta_of(content);
    event_shape.take(content, home);
    event_cells(cells, home);
  };
  return row;
}

kind_row usage_row(const kind_cells& cells) {
  auto row = with_cells(cells);
  row.is_computed = true;
  return row;
}

template <class T>
kind_row judge_row(const kind_cells& cells) {
  auto row = checked<T>(cells);
  row.warning = not_enforced;
  return row;
}

}  // namespace

void add_cluster_kinds(row_table& into) {
  add<PriorityClass>(into, priority_row());
  add<ResourceQuota>(into, quota_row());
  add<LimitRange>(into, limit_row());
  add<RuntimeClass>(into, checked<RuntimeClass>(runtime_class_cells));
  add<CertificateSigningRequest>(into, request_row());
  add<FlowSchema>(into, checked<FlowSchema>(flow_schema_cells));
  add<PriorityLevelConfiguration>(into, level_row());
  add<events::v1::Event>(into, newer_event_row());
  add<metrics::v1beta1::NodeMetrics>(into, usage_row(node_usage_cells));
  add<metrics::v1beta1::PodMetrics>(into, usage_row(pod_usage_cells));
  add<ValidatingWebhookConfiguration>(
      into, judge_row<ValidatingWebhookConfiguration>(validating_webhook_cells));
  add<MutatingWebhookConfiguration>(
      into, judge_row<MutatingWebhookConfiguration>(mutating_webhook_cells));
  add<ValidatingAdmissionPolicy>(into, judge_row<ValidatingAdmissionPolicy>(policy_cells));
  add<ValidatingAdmissionPolicyBinding>(
      into, judge_row<ValidatingAdmissionPolicyBinding>(policy_binding_cells));
}

}  // namespace troupe::api::kinds
