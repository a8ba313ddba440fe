// The naming conflicts of custom kinds: definitions of a group must not share names. Pure.
//
// kubernetes: apiextensions-apiserver/pkg/controller/status/naming_controller.go and
// controller/establish, controller/apiapproval.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/schema/apiextensions_v1.pb.h"

namespace troupe::api {

struct definition_condition {
  std::string type;
  bool holds = false;
  std::string reason;
  std::string message;
};

// The status of a definition.
struct names_and_conditions {
  // The names without conflict; for a conflicting name, the one that was accepted before.
  apiextensions::v1::CustomResourceDefinitionNames accepted;
  // NamesAccepted and Established, and the approval of a group that belongs to Kubernetes.
  std::vector<definition_condition> conditions;
};

// `others`: the other definitions of the group, whose accepted names are taken.
names_and_conditions calculate_names(
    const apiextensions::v1::CustomResourceDefinition& of,
    std::span<const apiextensions::v1::CustomResourceDefinition* const> others);

// True if the definition has the condition and its status is True.
bool condition_holds(const apiextensions::v1::CustomResourceDefinition& of, std::string_view type);

// The groups k8s.io, kubernetes.io and their subdomains: definitions need an annotation that links
// to the approval.
inline constexpr std::string_view approval_annotation = "api-approved.kubernetes.io";
bool needs_approval(std::string_view group);
// The problem with the annotation; nullopt if it is a URL or states that there is no approval.
std::optional<std::string> approval_problem(std::string_view annotation);

}  // namespace troupe::api
