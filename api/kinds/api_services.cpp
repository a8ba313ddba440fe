// The row of APIServices, which name the server of a group version.
#include "api/kinds/adapters.hpp"
#include "api/schema/apiregistration_v1.pb.h"
#include "api/values/local_api_services.hpp"

namespace troupe::api::kinds {
namespace {

using apiregistration::v1::APIService;
using apiregistration::v1::APIServiceCondition;

constexpr table_column columns[] = {
    {"Name", "string", "Name of the API service: <version>.<group>."},
    {"Service", "string", "Who serves it; Local: this server."},
    {"Available", "string", "Whether it is served."},
    {"Age", "string", "Time since it was created."},
};

const APIServiceCondition* available(const APIService& object) {
  for (const auto& each : object.status().conditions())
    if (each.type() == "Available") return &each;
  return nullptr;
}

// kubernetes: kube-aggregator/pkg/registry/apiservice/etcd, ConvertToTable.
void cells(row_cells& into, const body& content) {
  const auto& object = as<APIService>(content);
  const auto& service = object.spec().service();
  const auto* condition = available(object);
  auto state = condition == nullptr ? std::string{"Unknown"} : condition->status();
  if (condition != nullptr && state != "True") state += " (" + condition->reason() + ")";
  into.text(object.metadata().name())
      .text(object.spec().has_service() ? service.namespace_() + "/" + service.name()
                                        : local_reason)
      .text(state)
      .age(object.metadata());
}

// kubernetes: kube-aggregator/pkg/registry/apiservice, PrepareForCreate.
void begin(const kind_info&, body& content) {
  auto& object = as<APIService>(content);
  object.clear_status();
  if (object.spec().has_service()) return;
  auto& condition = *object.mutable_status()->add_conditions();
  condition.set_type("Available");
  condition.set_status("True");
  condition.set_reason(local_reason);
  condition.set_message(local_message);
  *condition.mutable_last_transition_time() = object.metadata().creation_timestamp();
}

void check_priority(field_errors& out, std::string_view field, std::int32_t value, int greatest) {
  if (value < 1 || value > greatest)
    out.invalid(field, value, "must be positive and less than " + std::to_string(greatest));
}

// kubernetes: kube-aggregator/pkg/apis/apiregistration/validation.
void check(field_errors& out, const body& content) {
  const auto& object = as<APIService>(content);
  const auto& spec = object.spec();
  const auto name = spec.version() + "." + spec.group();
  if (object.metadata().name() != name) {
    const auto step = out.at.field("metadata");
    out.invalid("name", object.metadata().name(),
                "must be `spec.version+\".\"+spec.group`: " + quoted(name));
  }
  const auto step = out.at.field("spec");
  if (spec.group().empty() && spec.version() != "v1")
    out.required("group", "only v1 may have an empty group and it better be legacy kube");
  if (spec.version().empty()) out.required("version");
  check_priority(out, "groupPriorityMinimum", spec.group_priority_minimum(), 20'000);
  check_priority(out, "versionPriority", spec.version_priority(), 1'000);
  if (spec.has_service()) {
    if (spec.insecure_skip_tls_verify() && !spec.ca_bundle().empty())
      out.invalid("insecureSkipTLSVerify", true, "may not be true if caBundle is present");
    const auto inside = out.at.field("service");
    if (spec.service().namespace_().empty()) out.required("namespace");
    if (spec.service().name().empty()) out.required("name");
    return;
  }
  if (!spec.ca_bundle().empty())
    out.forbidden("caBundle", "local APIServices may not have a caBundle");
  if (spec.insecure_skip_tls_verify())
    out.forbidden("insecureSkipTLSVerify", "local APIServices may not have insecureSkipTLSVerify");
}

}  // namespace

void add_api_service_kinds(row_table& into) {
  kind_row row;
  row.name = FREE;  // "v1."
  row.columns = columns;
  row.cells = &cells;
  row.updates_a_revision = true;
  row.begin = &begin;
  row.check = &check;
  add<APIService>(into, row);
}

}  // namespace troupe::api::kinds
