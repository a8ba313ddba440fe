// The names of custom kinds: within one group no two definitions share one. Pure.
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

// The status that a definition should have.
struct names_and_conditions {
  // Those without conflict; of the others the ones that were accepted before.
  apiextensions::v1::CustomResourceDefinitionNames accepted;
  // NamesAccepted and Established, and whether a group of Kubernetes itself was approved.
  std::vector<definition_condition> conditions;
};

// `others` are the other definitions of the group: what they were given is taken.
names_and_conditions calculate_names(
    const apiextensions::v1::CustomResourceDefinition& of,
    std::span<const apiextensions::v1::CustomResourceDefinition* const> others);

// True where the definition has the condition and it holds.
bool condition_holds(const apiextensions::v1::CustomResourceDefinition& of, std::string_view type);

// k8s.io, kubernetes.io and what ends with them: their kinds need an annotation that says where
// they were approved.
inline constexpr std::string_view approval_annotation = "api-approved.kubernetes.io";
bool needs_approval(std::string_view group);
// The problem with the annotation; none where it is a URL or says that there is no approval.
std::optional<std::string> approval_problem(std::string_view annotation);

}  // namespace troupe::api
