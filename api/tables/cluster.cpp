// Columns and cells of limits, certificates, request priorities and admission configuration.
#include <array>
#include <map>

#include "api/schema/admission_policy.pb.h"
#include "api/schema/admission_v1.pb.h"
#include "api/schema/certificates_v1.pb.h"
#include "api/schema/core_component.pb.h"
#include "api/schema/core_quota.pb.h"
#include "api/schema/flowcontrol_v1.pb.h"
#include "api/schema/node_v1.pb.h"
#include "api/tables/kind_cells.hpp"
#include "api/values/timestamp.hpp"

namespace troupe::api {
namespace {

using namespace admissionregistration::v1;
using certificates::v1::CertificateSigningRequest;
using core::v1::ComponentStatus;
using core::v1::LimitRange;
using core::v1::ResourceQuota;
using flowcontrol::v1::FlowSchema;
using flowcontrol::v1::PriorityLevelConfiguration;
using node::v1::RuntimeClass;

constexpr std::array of_quotas = {
    name_column, age_column, table_column{"Request", "string", "Used amounts and their limits."},
    table_column{"Limit", "string", "Used amounts of limits and their limits."}};

void write_quota(row_cells& into, const body& content) {
  const auto& object = as<ResourceQuota>(content);
  const auto& status = object.status();
  std::map<std::string, std::string> hard;
  for (const auto& [name, amount] : object.spec().hard())
    hard.emplace(name, amount.string());
  std::string requests, limits;
  for (const auto& [name, amount] : hard) {
    const auto found = status.used().find(name);
    const auto used = found == status.used().end() ? std::string("0") : found->second.string();
    auto& text = name.starts_with("limits") ? limits : requests;
    text += (text.empty() ? "" : ", ") + name + ": " + used + "/" + amount;
  }
  into.text(object.metadata().name()).age(object.metadata()).text(requests).text(limits);
}

constexpr std::array of_limits = {name_column,
                                  table_column{"Created At", "string", "When it was created."}};

void write_limit(row_cells& into, const body& content) {
  const auto& object = as<LimitRange>(content);
  into.text(object.metadata().name())
      .text(format_time(object.metadata().creation_timestamp().seconds()));
}

constexpr std::array of_components = {name_column,
                                      table_column{"Status", "string", "Whether it is healthy."},
                                      table_column{"Message", "string", "What it says."},
                                      table_column{"Error", "string", "What is wrong."}};

void write_component(row_cells& into, const body& content) {
  const auto& object = as<ComponentStatus>(content);
  std::string_view status = "Unknown", message, error;
  for (const auto& condition : object.conditions()) {
    if (condition.type() != "Healthy") continue;
    status = condition.status() == "True" ? "Healthy" : "Unhealthy";
    message = condition.message();
    error = condition.error();
  }
  into.text(object.metadata().name()).text(status).text(message).text(error);
}

constexpr std::array of_runtime_classes = {
    name_column, table_column{"Handler", "string", "What the node's runtime calls it."},
    age_column};

void write_runtime_class(row_cells& into, const body& content) {
  const auto& object = as<RuntimeClass>(content);
  into.text(object.metadata().name()).text(object.handler()).age(object.metadata());
}

constexpr std::array of_certificates = {
    name_column,
    age_column,
    table_column{"SignerName", "string", "Who is to sign it."},
    table_column{"Requestor", "string", "Who asks."},
    table_column{"RequestedDuration", "string", "How long it is to be good for."},
    table_column{"Condition", "string", "What has become of it."}};

std::string condition_of(const CertificateSigningRequest& object) {
  bool approved = false, denied = false, failed = false;
  for (const auto& condition : object.status().conditions()) {
    approved = approved || condition.type() == "Approved";
    denied = denied || condition.type() == "Denied";
    failed = failed || condition.type() == "Failed";
  }
  std::string text = denied ? "Denied" : approved ? "Approved" : "Pending";
  if (failed) text += ",Failed";
  if (!object.status().certificate().empty()) text += ",Issued";
  return text;
}

void write_certificate(row_cells& into, const body& content) {
  const auto& object = as<CertificateSigningRequest>(content);
  const auto& spec = object.spec();
  into.text(object.metadata().name())
      .age(object.metadata())
      .text_or(spec.signer_name(), none_text)
      .text(spec.username())
      .text(spec.has_expiration_seconds() ? human_duration(spec.expiration_seconds())
                                          : std::string(none_text))
      .text(condition_of(object));
}

constexpr std::array of_flow_schemas = {
    name_column,
    table_column{"PriorityLevel", "string", "The priority level that its requests have."},
    table_column{"MatchingPrecedence", "integer", "Lower ones are tried first."},
    table_column{"DistinguisherMethod", "string", "How its requests are told apart."},
    age_column,
    table_column{"MissingPL", "string", "Whether the priority level is missing."}};

void write_flow_schema(row_cells& into, const body& content) {
  const auto& object = as<FlowSchema>(content);
  const auto& spec = object.spec();
  std::string_view missing = "?";
  for (const auto& condition : object.status().conditions())
    if (condition.type() == "Dangling") missing = condition.status();
  into.text(object.metadata().name())
      .text(spec.priority_level_configuration().name())
      .number(spec.matching_precedence())
      .text_or(spec.distinguisher_method().type(), none_text)
      .age(object.metadata())
      .text(missing);
}

constexpr std::array of_priority_levels = {
    name_column,
    table_column{"Type", "string", "Whether its requests are limited."},
    table_column{"NominalConcurrencyShares", "string",
                 "Its share of the requests served at a time."},
    table_column{"Queues", "string", "How many queues there are."},
    table_column{"HandSize", "string", "Among how many queues a flow is dealt."},
    table_column{"QueueLengthLimit", "string", "How many requests may wait in one queue."},
    age_column};

void write_priority_level(row_cells& into, const body& content) {
  const auto& object = as<PriorityLevelConfiguration>(content);
  const auto& spec = object.spec();
  const auto shown = [](bool present, int value) {
    return present ? std::to_string(value) : std::string(none_text);
  };
  const auto& response = spec.limited().limit_response();
  const auto& queuing = response.queuing();
  into.text(object.metadata().name())
      .text(spec.type())
      .text(shown(spec.has_limited(), spec.limited().nominal_concurrency_shares()))
      .text(shown(response.has_queuing(), queuing.queues()))
      .text(shown(response.has_queuing(), queuing.hand_size()))
      .text(shown(response.has_queuing(), queuing.queue_length_limit()))
      .age(object.metadata());
}

constexpr std::array of_webhooks = {
    name_column, table_column{"Webhooks", "integer", "How many webhooks there are."}, age_column};

template <class Configuration>
void write_webhooks(row_cells& into, const body& content) {
  const auto& object = as<Configuration>(content);
  into.text(object.metadata().name()).number(object.webhooks_size()).age(object.metadata());
}

constexpr std::array of_policies = {
    name_column, table_column{"Validations", "integer", "How many rules there are."},
    table_column{"ParamKind", "string", "The kind of its parameters."}, age_column};

void write_policy(row_cells& into, const body& content) {
  const auto& object = as<ValidatingAdmissionPolicy>(content);
  const auto& spec = object.spec();
  into.text(object.metadata().name())
      .number(spec.validations_size())
      .text(spec.has_param_kind() ? spec.param_kind().api_version() + "/" + spec.param_kind().kind()
                                  : std::string(unset))
      .age(object.metadata());
}

constexpr std::array of_policy_bindings = {
    name_column, table_column{"PolicyName", "string", "The policy that is put in force."},
    table_column{"ParamRef", "string", "Objects with parameters for it."}, age_column};

void write_policy_binding(row_cells& into, const body& content) {
  const auto& object = as<ValidatingAdmissionPolicyBinding>(content);
  const auto& spec = object.spec();
  std::string parameters(unset);
  if (spec.has_param_ref())
    parameters = spec.param_ref().namespace_().empty()
                     ? spec.param_ref().name()
                     : spec.param_ref().namespace_() + "/" + spec.param_ref().name();
  into.text(object.metadata().name())
      .text(spec.policy_name())
      .text(parameters)
      .age(object.metadata());
}

}  // namespace

const kind_cells quota_cells = {of_quotas, &write_quota};
const kind_cells limit_cells = {of_limits, &write_limit};
const kind_cells component_cells = {of_components, &write_component};
const kind_cells runtime_class_cells = {of_runtime_classes, &write_runtime_class};
const kind_cells certificate_cells = {of_certificates, &write_certificate};
const kind_cells flow_schema_cells = {of_flow_schemas, &write_flow_schema};
const kind_cells priority_level_cells = {of_priority_levels, &write_priority_level};
const kind_cells validating_webhook_cells = {of_webhooks,
                                             &write_webhooks<ValidatingWebhookConfiguration>};
const kind_cells mutating_webhook_cells = {of_webhooks,
                                           &write_webhooks<MutatingWebhookConfiguration>};
const kind_cells policy_cells = {of_policies, &write_policy};
const kind_cells policy_binding_cells = {of_policy_bindings, &write_policy_binding};

}  // namespace troupe::api
