// Resource amounts: names, signs, and requests against limits.
#include <algorithm>
#include <map>

#include "api/validation/checks.hpp"
#include "api/values/quantity.hpp"

namespace troupe::api::validation {
namespace {

bool standard(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || name == "storage" ||
         name == "pods" || name.starts_with("hugepages-");
}

// Extended resources: whole numbers of devices that are never shared.
bool extended(std::string_view name) {
  return name.find('/') != std::string_view::npos && !name.starts_with("kubernetes.io/") &&
         !name.starts_with("requests.");
}

bool overcommits(std::string_view name) {
  return !extended(name) && !name.starts_with("hugepages-");
}

void check_container_resource(findings& out, const std::string& name) {
  out.each({}, name, check_qualified_name(name));
  if (standard(name) && name != "storage" && name != "pods") return;
  if (name.find('/') == std::string::npos)
    out.invalid({}, name, "must be a standard resource for containers");
}

void check_amount(findings& out, const std::string& name, const std::string& text) {
  const auto amount = quantity::parse(text);
  if (!amount) {
    out.invalid({}, text, quantity_syntax);
  } else if (amount->sign() < 0) {
    out.invalid({}, text, "must be greater than or equal to 0");
  } else if ((extended(name) || name == "pods") && amount->milli_value() % 1000 != 0) {
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

void check_against_limit(findings& out, const std::string& name, const std::string& request,
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

void check_amounts(findings& out, std::string_view field, const quantity_map& amounts) {
  const auto step = out.at.field(field);
  for (const auto& [name, text] : sorted(amounts)) {
    const auto inner = out.at.key(name);
    out.each({}, name, check_qualified_name(name));
    check_amount(out, name, text);
  }
}

void check_resources(findings& out, const core::v1::ResourceRequirements& resources) {
  const auto step = out.at.field("resources");
  for (const auto& [field, amounts] :
       {std::pair{"limits", &resources.limits()}, std::pair{"requests", &resources.requests()}}) {
    const auto list = out.at.field(field);
    for (const auto& [name, text] : sorted(*amounts)) {
      const auto inner = out.at.key(name);
      check_container_resource(out, name);
      check_amount(out, name, text);
    }
  }
  for (const auto& [name, text] : sorted(resources.requests()))
    check_against_limit(out, name, text, resources.limits());
}

}  // namespace troupe::api::validation
