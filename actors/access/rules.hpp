// The rules of rbac.authorization.k8s.io: which requests a rule allows, matching of subjects, and
// coverage of rules by other rules. Pure functions.
//
// kubernetes: pkg/apis/rbac/v1/evaluation_helpers.go, plugin/pkg/auth/authorizer/rbac/rbac.go,
// component-helpers/auth/rbac/validation/policy_comparator.go.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/rbac_v1.pb.h"

namespace troupe::actors::access {

using api::rbac::v1::PolicyRule;
using rule_list = google::protobuf::RepeatedPtrField<PolicyRule>;

inline constexpr std::string_view masters_group = "system:masters";

// The attributes of a request for rules. Views.
struct attempt {
  std::string_view verb = {};
  // False: a non-resource request; only `verb` and `path` apply.
  bool on_resource = true;
  std::string_view group = {};
  std::string_view resource = {};     // plural
  std::string_view subresource = {};  // empty: the object itself
  std::string_view name = {};         // empty: all objects, or one without a name yet
  std::string_view ns = {};           // empty: all namespaces, or a cluster-scoped kind
  std::string_view path = {};
};

// The user of a request. Views.
struct identity {
  std::string_view name = {};
  std::span<const std::string> groups = {};

  bool in_group(std::string_view group) const noexcept;
};

bool allows(const PolicyRule& rule, const attempt& attempt);

// The user name of a service account: "system:serviceaccount:NAMESPACE:NAME".
std::string account_user(std::string_view ns, std::string_view name);
// `binding_ns`: namespace of service accounts that name none; empty for cluster bindings.
bool is_subject(const api::rbac::v1::Subject& subject, std::string_view binding_ns,
                const identity& who);

// -- rules that cover rules ---------------------------------------------------------------------

// The parts of `wanted` that no rule of `held` covers, joined by group and resource. Nothing if
// `wanted` has more than defaults::covered_parts.
std::optional<std::vector<PolicyRule>> uncovered(std::span<const PolicyRule* const> held,
                                                 const rule_list& wanted);

// {APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}
std::string to_text(const PolicyRule& rule);

}  // namespace troupe::actors::access
