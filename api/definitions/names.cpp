#include "api/definitions/names.hpp"

#include <algorithm>
#include <set>

#include "api/codec/json_text.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::api {

using apiextensions::v1::CustomResourceDefinition;
using apiextensions::v1::CustomResourceDefinitionNames;

namespace {

using taken_names = std::set<std::string, std::less<>>;

// Checks each name on its own; names without conflict are accepted. Reports the last conflict.
class name_check {
 public:
  name_check(const taken_names& resources, const taken_names& kinds)
      : resources_{resources}, kinds_{kinds} {}

  // Whether the requested name is available: it is free, or belongs to the definition already.
  bool resource(const std::string& requested, const std::string& accepted, const char* reason) {
    return requested == accepted || free(resources_, requested, reason);
  }
  bool kind(const std::string& requested, const std::string& accepted, const char* reason) {
    return requested == accepted || free(kinds_, requested, reason);
  }

  definition_condition condition() const {
    if (reason_.empty()) return {"NamesAccepted", true, "NoConflicts", "no conflicts found"};
    return {"NamesAccepted", false, reason_, message_};
  }

 private:
  bool free(const taken_names& taken, const std::string& name, const char* reason) {
    if (!taken.contains(name)) return true;
    reason_ = reason;
    message_ = quoted(name) + " is already in use";
    return false;
  }

  const taken_names& resources_;
  const taken_names& kinds_;
  std::string reason_, message_;
};

bool all_free(name_check& check, const CustomResourceDefinitionNames& wanted,
              const CustomResourceDefinitionNames& had) {
  bool fine = true;
  for (const auto& name : wanted.short_names()) {
    const auto& own = had.short_names();
    if (std::find(own.begin(), own.end(), name) != own.end()) continue;
    fine = check.resource(name, {}, "ShortNamesConflict") && fine;
  }
  return fine;
}

definition_condition established(const CustomResourceDefinition& of, bool accepted) {
  constexpr const char* type = "Established";
  constexpr const char* message = "the initial names have been accepted";
  // An established definition stays established, whatever names it requests later.
  if (accepted || condition_holds(of, type)) return {type, true, "InitialNamesAccepted", message};
  return {type, false, "NotAccepted", "not all names are accepted"};
}

definition_condition approved(const CustomResourceDefinition& of) {
  constexpr const char* type = "KubernetesAPIApprovalPolicyConformant";
  const auto& annotations = of.metadata().annotations();
  const auto found = annotations.find(std::string{approval_annotation});
  if (found == annotations.end())
    return {type, false, "MissingAnnotation",
            "protected groups must have approval annotation \"" + std::string{approval_annotation} +
                "\", see https://github.com/kubernetes/enhancements/pull/1111"};
  if (const auto problem = approval_problem(found->second))
    return {type, false, "InvalidAnnotation", *problem};
  if (found->second.rfind("unapproved", 0) == 0)
    return {type, false, "UnapprovedAnnotation", "not approved: " + quoted(found->second)};
  return {type, true, "ApprovedAnnotation", "approved in " + found->second};
}

}  // namespace

names_and_conditions calculate_names(const CustomResourceDefinition& of,
                                     std::span<const CustomResourceDefinition* const> others) {
  taken_names resources, kinds;
  for (const auto* other : others) {
    const auto& names = other->status().accepted_names();
    resources.insert({names.plural(), names.singular()});
    resources.insert(names.short_names().begin(), names.short_names().end());
    kinds.insert({names.kind(), names.list_kind()});
  }
  const auto& wanted = of.spec().names();
  const auto& had = of.status().accepted_names();
  names_and_conditions out;
  auto& accepted = out.accepted;
  accepted = had;
  name_check check{resources, kinds};
  if (check.resource(wanted.plural(), had.plural(), "PluralConflict"))
    accepted.set_plural(wanted.plural());
  if (check.resource(wanted.singular(), had.singular(), "SingularConflict"))
    accepted.set_singular(wanted.singular());
  if (all_free(check, wanted, had)) *accepted.mutable_short_names() = wanted.short_names();
  if (check.kind(wanted.kind(), had.kind(), "KindConflict")) accepted.set_kind(wanted.kind());
  if (check.kind(wanted.list_kind(), had.list_kind(), "ListKindConflict"))
    accepted.set_list_kind(wanted.list_kind());
  *accepted.mutable_categories() = wanted.categories();
  out.conditions.push_back(check.condition());
  out.conditions.push_back(established(of, out.conditions.front().holds));
  if (needs_approval(of.spec().group())) out.conditions.push_back(approved(of));
  return out;
}

bool condition_holds(const CustomResourceDefinition& of, std::string_view type) {
  const auto& all = of.status().conditions();
  return std::any_of(all.begin(), all.end(), [type](const auto& each) {
    return each.type() == type && each.status() == "True";
  });
}

bool needs_approval(std::string_view group) {
  for (const std::string_view domain : {"k8s.io", "kubernetes.io"})
    if (group == domain || group.ends_with("." + std::string{domain})) return true;
  return false;
}

std::optional<std::string> approval_problem(std::string_view annotation) {
  if (annotation.starts_with("unapproved")) return std::nullopt;
  const auto scheme = annotation.substr(0, annotation.find("://"));
  const bool named = !scheme.empty() && std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  });
  const auto rest = annotation.substr(std::min(scheme.size() + 3, annotation.size()));
  if (named && !rest.empty() && rest.front() != '/') return std::nullopt;
  return "protected groups must have approval annotation " + quoted(approval_annotation) +
         " with either a URL or a reason starting with \"unapproved\", see "
         "https://github.com/kubernetes/enhancements/pull/1111";
}

}  // namespace troupe::api
