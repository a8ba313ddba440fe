// Quotas and limits of namespaces (kubernetes: pkg/apis/core/validation).
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "api/codec/quoted_list.hpp"
#include "api/validation/checks.hpp"
#include "api/validation/cluster.hpp"
#include "api/values/quantity.hpp"

namespace troupe::api::validation {
namespace {

using core::v1::LimitRange;
using core::v1::LimitRangeItem;
using core::v1::ResourceQuota;
using core::v1::ResourceQuotaSpec;

constexpr std::array scopes = {
    "BestEffort",  "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "PriorityClass",
    "Terminating", "VolumeAttributesClass"};

constexpr std::array compute_quotas = {"cpu",    "limits.cpu",   "limits.memory",
                                       "memory", "requests.cpu", "requests.memory"};

template <class Names>
bool among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool counts(const std::string& name) {
  return name.starts_with("count/") || name == "pods" || name == "services" ||
         name == "replicationcontrollers" || name == "resourcequotas" || name == "secrets" ||
         name == "configmaps" || name == "persistentvolumeclaims" || name == "services.nodeports" ||
         name == "services.loadbalancers";
}

void check_hard(field_errors& out, const quantity_map& hard) {
  const auto step = out.at.field("hard");
  std::map<std::string, std::string_view> sorted;
  for (const auto& [name, amount] : hard)
    sorted.emplace(name, amount.string());
  for (const auto& [name, text] : sorted) {
    const auto inner = out.at.key(name);
    check_resource_name(out, name, resource_user::quota);
    const auto amount = quantity::parse(text);
    if (!amount)
      out.invalid({}, text, quantity_syntax);
    else if (amount->sign() < 0)
      out.invalid({}, text, "must be greater than or equal to 0");
    else if (counts(name) && amount->milli_value() % 1000 != 0)
      out.invalid({}, text, "must be an integer");
  }
}

// A scope of pods counts pods and, unless they are without requests and limits, what they use.
bool can_count(const std::string& scope, const std::string& name) {
  if (name == "pods" || scope == "VolumeAttributesClass") return true;
  return scope != "BestEffort" && among(compute_quotas, name);
}

void check_scopes(field_errors& out, const ResourceQuotaSpec& spec) {
  const std::set<std::string> seen(spec.scopes().begin(), spec.scopes().end());
  const auto invalid = [&](std::string_view detail) {
    out.invalid_json("scopes", quoted_list(spec.scopes()), detail);
  };
  for (const auto& scope : spec.scopes()) {
    if (!among(scopes, scope)) invalid("unsupported scope");
    for (const auto& [name, amount] : spec.hard())
      if (among(scopes, scope) && is_standard_quota(name) && !can_count(scope, name))
        invalid("unsupported scope applied to resource");
  }
  if ((seen.contains("BestEffort") && seen.contains("NotBestEffort")) ||
      (seen.contains("Terminating") && seen.contains("NotTerminating")))
    invalid("conflicting scopes");
  const auto step = out.at.field("scopeSelector");
  const auto& conditions = spec.scope_selector().match_expressions();
  for (int i = 0; i < conditions.size(); ++i) {
    const auto inner = out.at.item("matchExpressions", i);
    const auto& condition = conditions[i];
    const auto& op = condition.operator_();
    if (!among(scopes, condition.scope_name()) && !condition.scope_name().empty())
      out.invalid("scopeName", condition.scope_name(), "unsupported scope");
    if ((op == "In" || op == "NotIn") && condition.values().empty())
      out.required("values",
                   "must be at least one value when `operator` is 'In' or 'NotIn' for "
                   "scope selector");
    if ((op == "Exists" || op == "DoesNotExist") && !condition.values().empty())
      out.invalid_json("values", quoted_list(condition.values()),
                       "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope "
                       "selector");
  }
}

std::optional<quantity> amount_of(const quantity_map& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? std::nullopt : quantity::parse(found->second.string());
}

// Checks that `smaller` does not exceed `greater`; the errors name both amounts.
void check_order(field_errors& out, std::string_view field, const std::string& name,
                 std::string_view less, const quantity_map& smaller, std::string_view more,
                 const quantity_map& greater) {
  const auto low = amount_of(smaller, name), high = amount_of(greater, name);
  if (!low || !high || *low <= *high) return;
  const auto step = out.at.field(field);
  const auto inner = out.at.key(name);
  out.invalid({}, low->str(),
              std::string(less) + " value " + low->str() + " is greater than " + std::string(more) +
                  " value " + high->str());
}

std::set<std::string> names_of(const LimitRangeItem& item) {
  std::set<std::string> names;
  for (const auto* amounts : {&item.max(), &item.min(), &item.default_(), &item.default_request(),
                              &item.max_limit_request_ratio()})
    for (const auto& [name, amount] : *amounts)
      names.insert(name);
  return names;
}

void check_names(field_errors& out, std::string_view field, const LimitRangeItem& item,
                 const quantity_map& amounts) {
  const bool for_containers = item.type() == "Pod" || item.type() == "Container";
  const auto step = out.at.field(field);
  std::set<std::string> names;
  for (const auto& [name, amount] : amounts)
    names.insert(name);
  for (const auto& name : names) {
    const auto inner = out.at.key(name);
    check_resource_name(out, name, for_containers ? resource_user::container : resource_user::any);
  }
}

void check_item(field_errors& out, const LimitRangeItem& item) {
  check_names(out, "max", item, item.max());
  check_names(out, "min", item, item.min());
  if (item.type() == "Pod") {
    if (!item.default_().empty())
      out.forbidden("default", "may not be specified when `type` is 'Pod'");
    if (!item.default_request().empty())
      out.forbidden("defaultRequest", "may not be specified when `type` is 'Pod'");
  } else {
    check_names(out, "default", item, item.default_());
    check_names(out, "defaultRequest", item, item.default_request());
  }
  if (item.type() == "PersistentVolumeClaim" && !item.min().contains("storage") &&
      !item.max().contains("storage"))
    out.required("limits",
                 "either minimum or maximum storage value is required, but neither was "
                 "provided");
  check_names(out, "maxLimitRequestRatio", item, item.max_limit_request_ratio());
  for (const auto& name : names_of(item)) {
    check_order(out, "min", name, "min", item.min(), "max", item.max());
    check_order(out, "defaultRequest", name, "default request", item.default_request(), "max",
                item.max());
    check_order(out, "defaultRequest", name, "default request", item.default_request(),
                "default limit", item.default_());
    check_order(out, "default", name, "default", item.default_(), "max", item.max());
    check_order(out, "default", name, "min", item.min(), "default", item.default_());
    check_order(out, "defaultRequest", name, "min", item.min(), "default request",
                item.default_request());
    const auto ratio = amount_of(item.max_limit_request_ratio(), name);
    if (!ratio || *ratio >= quantity::of(1)) continue;
    const auto step = out.at.field("maxLimitRequestRatio");
    const auto inner = out.at.key(name);
    out.invalid({}, ratio->str(), "ratio " + ratio->str() + " is less than 1");
  }
}

}  // namespace

void check(field_errors& out, const ResourceQuota& object) {
  const auto step = out.at.field("spec");
  check_hard(out, object.spec().hard());
  check_scopes(out, object.spec());
}

void check_update(field_errors& out, const ResourceQuota& now, const ResourceQuota& was) {
  const auto sorted = [](const ResourceQuota& of) {
    return std::set<std::string>(of.spec().scopes().begin(), of.spec().scopes().end());
  };
  if (sorted(now) == sorted(was)) return;
  const auto step = out.at.field("spec");
  out.invalid_json("scopes",
                   now.spec().scopes().empty() ? "null" : quoted_list(now.spec().scopes()),
                   "field is immutable");
}

void check(field_errors& out, const LimitRange& object) {
  const auto step = out.at.field("spec");
  std::set<std::string> types;
  for (int i = 0; i < object.spec().limits_size(); ++i) {
    const auto inner = out.at.item("limits", i);
    const auto& item = object.spec().limits(i);
    if (item.type().empty()) continue;
    out.each("type", item.type(), check_qualified_name(item.type()));
    if (item.type() != "Container" && item.type() != "Pod" &&
        item.type() != "PersistentVolumeClaim" && item.type().find('/') == std::string::npos)
      out.invalid("type", item.type(), "must be a standard limit type or fully qualified");
    if (!types.insert(item.type()).second) out.duplicate("type", item.type());
    check_item(out, item);
  }
}

}  // namespace troupe::api::validation
