// Resource amounts: names, signs, and requests against limits.
#include <algorithm>
#include <array>
#include <map>

#include "api/validation/checks.hpp"
#include "api/values/quantity.hpp"

namespace troupe::api::validation {
namespace {

// Kubernetes, core/helper: IsStandardQuotaResourceName; others have "hugepages-" in front.
constexpr std::array quota_names = {
    "configmaps",
    "cpu",
    "ephemeral-storage",
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "memory",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
    "requests.storage",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
};

bool is_for_containers(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
         name.starts_with("hugepages-");
}

bool has_prefix(std::string_view name) {
  return name.find('/') != std::string_view::npos;
}

bool is_native(std::string_view name) {
  return !has_prefix(name) || name.find("kubernetes.io/") != std::string_view::npos;
}

// Extended resources: whole numbers of devices that are never shared.
bool is_extended(std::string_view name) {
  return !is_native(name) && !name.starts_with("requests.") &&
         check_qualified_name("requests." + std::string{name}).empty();
}

bool overcommits(std::string_view name) {
  return is_native(name) && !name.starts_with("hugepages-");
}

void check_amount(field_errors& out, const std::string& name, const std::string& text) {
  const auto amount = quantity::parse(text);
  if (!amount) {
    out.invalid({}, text, quantity_syntax);
  } else if (amount->sign() < 0) {
    out.invalid({}, text, "must be greater than or equal to 0");
  } else if (is_extended(name) && amount->milli_value() % 1000 != 0) {
    out.invalid({}, text, "must be an integer");
  }
}

// Sorted by name, so that equal objects get equal responses.
std::map<std::string, std::string> sorted(const quantity_map& amounts) {
  std::map<std::string, std::string> made;
  for (const auto& [name, amount] : amounts)
    made.emplace(name, amount.string());
  return made;
}

void check_against_limit(field_errors& out, const std::string& name, const std::string& request,
                         const quantity_map& limits) {
  const auto limit = limits.find(name);
  const auto requested = quantity::parse(request);
  if (!requested) return;
  if (limit == limits.end()) {
    if (!overcommits(name))
      out.required("limits", "Limit must be set for non overcommitable resources");
    return;
  }
  const auto maximum = quantity::parse(limit->second.string());
  if (!maximum) return;
  const auto text = limit->second.string();
  if (!overcommits(name) && *requested != *maximum)
    out.invalid("requests", request, "must be equal to " + name + " limit of " + text);
  else if (*requested > *maximum)
    out.invalid("requests", request, "must be less than or equal to " + name + " limit of " + text);
}

}  // namespace

bool is_standard_quota(std::string_view name) {
  return std::find(quota_names.begin(), quota_names.end(), name) != quota_names.end() ||
         name.starts_with("hugepages-") || name.starts_with("requests.hugepages-");
}

void check_resource_name(field_errors& out, const std::string& name, resource_user user) {
  const auto error_messages = check_qualified_name(name);
  out.each({}, name, error_messages);
  if (error_messages.empty() && !has_prefix(name) && !is_standard_quota(name) && name != "storage")
    out.invalid({}, name, "must be a standard resource type or fully qualified");
  if (user == resource_user::quota && !has_prefix(name) && !is_standard_quota(name))
    out.invalid({}, name, "must be a standard resource for quota");
  if (user != resource_user::container) return;
  if (!has_prefix(name) && !is_for_containers(name))
    out.invalid({}, name, "must be a standard resource for containers");
  if (!is_native(name) && !is_extended(name))
    out.invalid({}, name, "doesn't follow extended resource name standard");
}

void check_overhead(field_errors& out, const quantity_map& amounts) {
  core::v1::ResourceRequirements overhead;
  *overhead.mutable_limits() = amounts;
  check_resources(out, "overhead", overhead);
}

void check_resources(field_errors& out, std::string_view field,
                     const core::v1::ResourceRequirements& resources) {
  const auto step = out.at.field(field);
  for (const auto& [part, amounts] :
       {std::pair{"limits", &resources.limits()}, std::pair{"requests", &resources.requests()}}) {
    const auto list = out.at.field(part);
    for (const auto& [name, text] : sorted(*amounts)) {
      const auto inner = out.at.key(name);
      check_resource_name(out, name, resource_user::container);
      check_amount(out, name, text);
    }
  }
  for (const auto& [name, text] : sorted(resources.requests()))
    check_against_limit(out, name, text, resources.limits());
}

}  // namespace troupe::api::validation
