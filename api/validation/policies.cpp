// Webhooks and admission policies (kubernetes: pkg/apis/admissionregistration/validation).
// Expressions are not checked: there is no CEL support yet.
#include "api/validation/policies.hpp"

#include <algorithm>
#include <set>

#include "api/codec/codec.hpp"
#include "api/validation/checks.hpp"

namespace troupe::api::validation {
namespace {

using namespace admissionregistration::v1;
using strings = google::protobuf::RepeatedPtrField<std::string>;

constexpr int most_conditions = 64;
constexpr int most_audit_annotations = 20;

bool has(const strings& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::string as_json(const strings& list) {
  std::string text = "[";
  for (const auto& each : list)
    text += (text.size() > 1 ? "," : "") + quoted(each);
  return text + "]";
}

void check_alone(field_errors& out, std::string_view field, const strings& list,
                 std::string_view others) {
  if (list.size() > 1 && has(list, "*"))
    out.invalid_json(field, as_json(list),
                     "if '*' is present, must not specify other " + std::string(others));
}

// "pods", "pods/status", "pods/*", "*/scale", "*/*", "*".
void check_resources(field_errors& out, const strings& resources) {
  std::set<std::string> all_parts_of, part_of_all;
  bool double_wildcard = false, wildcard = false, plain = false;
  for (int i = 0; i < resources.size(); ++i) {
    const auto step = out.at.item("resources", i);
    const auto& name = resources[i];
    if (name.empty()) {
      out.required({});
      continue;
    }
    double_wildcard = double_wildcard || name == "*/*";
    wildcard = wildcard || name == "*";
    const auto slash = name.find('/');
    if (slash == std::string::npos) {
      plain = plain || name != "*";
      continue;
    }
    const auto resource = name.substr(0, slash), part = name.substr(slash + 1);
    if (all_parts_of.contains(resource))
      out.invalid({}, name, "if '" + resource + "/*' is present, must not specify " + name);
    if (part_of_all.contains(part))
      out.invalid({}, name, "if '*/" + part + "' is present, must not specify " + name);
    if (part == "*") all_parts_of.insert(resource);
    if (resource == "*") part_of_all.insert(part);
  }
  if (double_wildcard && resources.size() > 1)
    out.invalid_json("resources", as_json(resources),
                     "if '*/*' is present, must not specify other resources");
  if (wildcard && plain)
    out.invalid_json("resources", as_json(resources),
                     "if '*' is present, must not specify other resources without subresources");
}

// The schema checks required fields; this also covers an absent rule.
void check_rule(field_errors& out, const RuleWithOperations& rule, bool has_parts) {
  check_alone(out, "operations", rule.operations(), "operations");
  if (!has_parts)
    for (const auto* field : {"apiGroups", "apiVersions", "resources"})
      out.required(field);
  check_alone(out, "apiGroups", rule.rule().api_groups(), "API groups");
  check_alone(out, "apiVersions", rule.rule().api_versions(), "API versions");
  for (int i = 0; i < rule.rule().api_versions_size(); ++i) {
    const auto step = out.at.item("apiVersions", i);
    if (rule.rule().api_versions(i).empty()) out.required({});
  }
  check_resources(out, rule.rule().resources());
}

template <class Conditions>
void check_conditions(field_errors& out, const Conditions& conditions) {
  out.at_most("matchConditions", conditions.size(), most_conditions);
  std::set<std::string> names;
  for (int i = 0; i < conditions.size(); ++i) {
    const auto step = out.at.item("matchConditions", i);
    if (!conditions[i].name().empty() && !names.insert(conditions[i].name()).second)
      out.duplicate("name", conditions[i].name());
  }
}

template <class Matched>
void check_selectors(field_errors& out, const Matched& matched) {
  const auto look_at = [&](std::string_view field, const meta::v1::LabelSelector& selector) {
    const auto step = out.at.field(field);
    check_label_selector(out, selector);
  };
  if (matched.has_namespace_selector()) look_at("namespaceSelector", matched.namespace_selector());
  if (matched.has_object_selector()) look_at("objectSelector", matched.object_selector());
}

// Kubernetes, apiserver/pkg/util/webhook: ValidateWebhookURL.
void check_url(field_errors& out, const std::string& url) {
  constexpr std::string_view form = "; desired format: https://host[/path]";
  if (!url.starts_with("https://"))
    return out.invalid("url", url, "'https' is the only allowed URL scheme" + std::string(form));
  const auto rest = url.substr(std::string_view("https://").size());
  const auto host = rest.substr(0, rest.find('/'));
  if (host.empty()) out.invalid("url", url, "host must be specified" + std::string(form));
  if (host.find('@') != std::string::npos)
    out.invalid("url", url, "user information is not permitted in the URL");
  if (rest.find('#') != std::string::npos)
    out.invalid("url", url, "fragments are not permitted in the URL");
  if (rest.find('?') != std::string::npos)
    out.invalid("url", url, "query parameters are not permitted in the URL");
}

void check_client(field_errors& out, const WebhookClientConfig& client) {
  const auto step = out.at.field("clientConfig");
  if (client.has_url() == client.has_service())
    return out.required({}, "exactly one of url or service is required");
  if (client.has_url()) return check_url(out, client.url());
  const auto& service = client.service();
  if (!service.has_path()) return;
  const auto inner = out.at.field("service");
  if (!service.path().starts_with('/'))
    out.invalid("path", service.path(), "must start with a '/'");
  if (service.path().find("//") != std::string::npos)
    out.invalid("path", service.path(), "segment[0] may not be empty");
}

void check_versions(field_errors& out, const strings& versions) {
  if (versions.empty())
    return out.required("admissionReviewVersions", "must specify one of v1, v1beta1");
  std::set<std::string> seen;
  for (int i = 0; i < versions.size(); ++i) {
    const auto step = out.at.item("admissionReviewVersions", i);
    if (!seen.insert(versions[i]).second)
      out.invalid({}, versions[i], "duplicate version");
    else
      out.each({}, versions[i], check_dns_1035_label(versions[i]));
  }
  if (!has(versions, "v1") && !has(versions, "v1beta1"))
    out.invalid_json("admissionReviewVersions", as_json(versions),
                     "must include at least one of v1, v1beta1");
}

// Kubernetes, util/validation: IsFullyQualifiedName.
void check_webhook_name(field_errors& out, const std::string& name) {
  if (name.empty()) return;
  const auto found = check_dns_subdomain(name);
  out.each("name", name, found);
  if (found.empty() && std::count(name.begin(), name.end(), '.') < 2)
    out.invalid("name", name, "should be a domain with at least three segments separated by dots");
}

template <class Webhook>
void check_webhook(field_errors& out, const Webhook& hook) {
  check_webhook_name(out, hook.name());
  for (int i = 0; i < hook.rules_size(); ++i) {
    const auto step = out.at.item("rules", i);
    check_rule(out, hook.rules(i), hook.rules(i).has_rule());
  }
  if (!hook.has_side_effects())
    out.required("sideEffects", "must specify one of None, NoneOnDryRun");
  if (hook.has_timeout_seconds() && (hook.timeout_seconds() < 1 || hook.timeout_seconds() > 30))
    out.invalid("timeoutSeconds", hook.timeout_seconds(),
                "the timeout value must be between 1 and 30 seconds");
  check_selectors(out, hook);
  check_client(out, hook.client_config());
  check_conditions(out, hook.match_conditions());
  check_versions(out, hook.admission_review_versions());
}

template <class Configuration>
void check_webhooks(field_errors& out, const Configuration& object) {
  std::set<std::string> names;
  for (int i = 0; i < object.webhooks_size(); ++i) {
    const auto step = out.at.item("webhooks", i);
    const auto& hook = object.webhooks(i);
    check_webhook(out, hook);
    if (!hook.name().empty() && !names.insert(hook.name()).second)
      out.duplicate("name", hook.name());
  }
}

void check_matched(field_errors& out, const MatchResources& matched) {
  check_selectors(out, matched);
  const auto look_at = [&](std::string_view field, const auto& rules) {
    for (int i = 0; i < rules.size(); ++i) {
      const auto step = out.at.item(field, i);
      const auto& rule = rules[i].rule_with_operations();
      if (!rules[i].has_rule_with_operations()) out.required("operations");
      check_rule(out, rule, rule.has_rule());
    }
  };
  look_at("resourceRules", matched.resource_rules());
  look_at("excludeResourceRules", matched.exclude_resource_rules());
}

void check_validations(field_errors& out, const ValidatingAdmissionPolicySpec& spec) {
  if (spec.validations().empty() && spec.audit_annotations().empty()) {
    constexpr std::string_view one_of =
        "validations or auditAnnotations must contain at least one item";
    out.required("validations", one_of);
    out.required("auditAnnotations", one_of);
  }
  for (int i = 0; i < spec.validations_size(); ++i) {
    const auto step = out.at.item("validations", i);
    const auto& validation = spec.validations(i);
    if (validation.message().find('\n') != std::string::npos)
      out.invalid("message", validation.message(), "must not contain line breaks");
  }
  out.at_most("auditAnnotations", spec.audit_annotations_size(), most_audit_annotations);
  std::set<std::string> keys;
  for (int i = 0; i < spec.audit_annotations_size(); ++i) {
    const auto step = out.at.item("auditAnnotations", i);
    const auto& key = spec.audit_annotations(i).key();
    if (!key.empty() && !keys.insert(key).second) out.duplicate("key", key);
  }
  std::set<std::string> names;
  for (int i = 0; i < spec.variables_size(); ++i) {
    const auto step = out.at.item("variables", i);
    const auto& name = spec.variables(i).name();
    if (!name.empty() && !names.insert(name).second) out.duplicate("name", name);
  }
}

}  // namespace

void check(field_errors& out, const ValidatingWebhookConfiguration& object) {
  check_webhooks(out, object);
}

void check(field_errors& out, const MutatingWebhookConfiguration& object) {
  check_webhooks(out, object);
}

void check(field_errors& out, const ValidatingAdmissionPolicy& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  check_validations(out, spec);
  check_conditions(out, spec.match_conditions());
  if (!spec.has_match_constraints()) return;
  const auto inner = out.at.field("matchConstraints");
  if (spec.match_constraints().resource_rules().empty()) out.required("resourceRules");
  check_matched(out, spec.match_constraints());
}

void check(field_errors& out, const ValidatingAdmissionPolicyBinding& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  if (!spec.policy_name().empty())
    out.each("policyName", spec.policy_name(), check_dns_subdomain(spec.policy_name()));
  const auto& actions = spec.validation_actions();
  std::set<std::string> seen;
  for (int i = 0; i < actions.size(); ++i) {
    const auto inner = out.at.item("validationActions", i);
    if (!seen.insert(actions[i]).second) out.duplicate({}, actions[i]);
  }
  if (seen.contains("Deny") && seen.contains("Warn"))
    out.invalid_json("validationActions", as_json(actions),
                     "must not contain both Deny and Warn (repeating the same validation failure "
                     "information in the API response and headers serves no purpose)");
  if (spec.has_param_ref()) {
    const auto inner = out.at.field("paramRef");
    const auto& reference = spec.param_ref();
    if (!reference.name().empty() && reference.has_selector())
      out.forbidden("name", "name and selector are mutually exclusive");
    if (reference.name().empty() && !reference.has_selector())
      out.required({}, "one of name or selector must be specified");
    if (!reference.has_parameter_not_found_action()) out.required("parameterNotFoundAction");
  }
  if (!spec.has_match_resources()) return;
  const auto inner = out.at.field("matchResources");
  check_matched(out, spec.match_resources());
}

}  // namespace troupe::api::validation
