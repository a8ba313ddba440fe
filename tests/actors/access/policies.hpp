// Roles, bindings and access requests for tests: generated from small alphabets so that they match
// often, and a second, simple implementation of the access decision.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "actors/access/rules.hpp"
#include "api/object/object.hpp"
#include "api/schema/rbac_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::test {

using api::rbac::v1::ClusterRole;
using api::rbac::v1::ClusterRoleBinding;
using api::rbac::v1::PolicyRule;
using api::rbac::v1::Role;
using api::rbac::v1::RoleBinding;
using api::rbac::v1::RoleRef;
using api::rbac::v1::Subject;

template <class T>
api::object_ptr as_object(const T& content, std::uint64_t revision = 1) {
  return std::make_shared<const api::object>(api::kind_of<T>(), std::make_unique<T>(content),
                                             revision);
}

// An access request that owns its strings.
struct question {
  std::string user = {};
  std::vector<std::string> groups = {};
  bool on_resource = true;
  std::string verb = {};
  std::string group = {}, resource = {}, subresource = {}, name = {}, ns = {};
  std::string path = {};

  actors::access::identity who() const { return {user, groups}; }
  actors::access::attempt attempt() const {
    return {.verb = verb,
            .on_resource = on_resource,
            .group = group,
            .resource = resource,
            .subresource = subresource,
            .name = name,
            .ns = ns,
            .path = path};
  }
};

class policy_source {
 public:
  explicit policy_source(std::uint64_t seed) : random_{seed} {}

  std::size_t below(std::size_t n) { return random_() % n; }
  std::string any(const std::vector<std::string>& of) { return of[below(of.size())]; }

  PolicyRule rule(bool may_have_paths) {
    PolicyRule out;
    fill(*out.mutable_verbs(), {"get", "list", "create", "*"});
    if (may_have_paths && below(5) == 0) {
      fill(*out.mutable_non_resource_ur_ls(), {"/a", "/a/*", "/a/b", "*", "/b*"});
      return out;
    }
    fill(*out.mutable_api_groups(), {"", "apps", "batch", "*"});
    fill(*out.mutable_resources(), {"pods", "pods/log", "jobs", "jobs/log", "*/log", "*"});
    if (below(3) == 0) fill(*out.mutable_resource_names(), {"x", "y", "z"});
    return out;
  }

  template <class T>
  T role(const std::string& ns) {
    T out;
    out.mutable_metadata()->set_name(any(names));
    out.mutable_metadata()->set_namespace_(ns);
    for (auto left = below(4); left > 0; --left)
      *out.add_rules() = rule(ns.empty());
    return out;
  }

  template <class T>
  T binding(const std::string& ns) {
    T out;
    out.mutable_metadata()->set_name(any(names));
    out.mutable_metadata()->set_namespace_(ns);
    out.mutable_role_ref()->set_kind(ns.empty() || below(2) == 0 ? "ClusterRole" : "Role");
    out.mutable_role_ref()->set_name(any(names));
    for (auto left = below(4); left > 0; --left)
      *out.add_subjects() = subject(ns);
    return out;
  }

  Subject subject(const std::string& ns) {
    Subject out;
    out.set_kind(any({"User", "Group", "ServiceAccount"}));
    out.set_name(out.kind() == "User"    ? any(users)
                 : out.kind() == "Group" ? any(groups)
                                         : any({"robot", "janitor"}));
    if (out.kind() == "ServiceAccount" && (ns.empty() || below(2) == 0))
      out.set_namespace_(any({"n1", "n2"}));
    return out;
  }

  question ask() {
    question out;
    out.user = any(users);
    for (auto left = below(3); left > 0; --left)
      out.groups.push_back(any(groups));
    out.verb = any({"get", "list", "create", "delete"});
    out.ns = any({"", "n1", "n2"});
    out.on_resource = below(5) != 0;
    out.path = any({"/a", "/a/", "/a/b", "/a/b/c", "/b", "/bc", "/c"});
    out.group = any({"", "apps", "batch", "policy"});
    out.resource = any({"pods", "jobs", "nodes"});
    out.subresource = any({"", "", "log", "scale"});
    out.name = any({"", "x", "y", "w"});
    return out;
  }

  std::vector<std::string> names{"r1", "r2", "r3", "r4", "r5"};
  std::vector<std::string> users{"jane", "joe", "system:serviceaccount:n1:robot",
                                 "system:serviceaccount:n2:robot",
                                 "system:serviceaccount:n1:janitor"};
  std::vector<std::string> groups{"dev", "ops", "system:authenticated"};

 private:
  void fill(google::protobuf::RepeatedPtrField<std::string>& into,
            const std::vector<std::string>& of) {
    for (auto left = 1 + below(2); left > 0; --left)
      *into.Add() = any(of);
  }

  std::mt19937_64 random_;
};

// All roles and bindings; decides by iterating over all of them. Written from the documentation of
// RBAC; shares no code with the program's authorizer.
struct plain_policy {
  std::map<std::string, Role> roles;                           // by "ns/name"
  std::map<std::string, ClusterRole> cluster_roles;            // by name
  std::map<std::string, RoleBinding> bindings;                 // by "ns/name"
  std::map<std::string, ClusterRoleBinding> cluster_bindings;  // by name

  bool allows(const question& q) const {
    for (const auto& [name, binding] : cluster_bindings)
      if (given(binding.subjects(), "", q) && role_allows("", binding.role_ref(), q)) return true;
    if (q.ns.empty() || !q.on_resource) return false;
    for (const auto& [name, binding] : bindings)
      if (binding.metadata().namespace_() == q.ns && given(binding.subjects(), q.ns, q) &&
          role_allows(q.ns, binding.role_ref(), q))
        return true;
    return false;
  }

 private:
  static bool given(const google::protobuf::RepeatedPtrField<Subject>& subjects,
                    const std::string& ns, const question& q) {
    for (const auto& each : subjects) {
      if (each.kind() == "User" && each.name() == q.user) return true;
      for (const auto& group : q.groups)
        if (each.kind() == "Group" && each.name() == group) return true;
      const auto home = each.namespace_().empty() ? ns : each.namespace_();
      if (each.kind() == "ServiceAccount" &&
          q.user == "system:serviceaccount:" + home + ":" + each.name())
        return true;
    }
    return false;
  }

  bool role_allows(const std::string& ns, const RoleRef& reference, const question& q) const {
    if (reference.kind() == "ClusterRole") {
      const auto found = cluster_roles.find(reference.name());
      return found != cluster_roles.end() && any_allows(found->second.rules(), q);
    }
    const auto found = roles.find(ns + "/" + reference.name());
    return found != roles.end() && any_allows(found->second.rules(), q);
  }

  static bool any_allows(const google::protobuf::RepeatedPtrField<PolicyRule>& rules,
                         const question& q) {
    for (const auto& rule : rules)
      if (rule_allows(rule, q)) return true;
    return false;
  }

  static bool among(const google::protobuf::RepeatedPtrField<std::string>& list,
                    const std::string& text) {
    for (const auto& each : list)
      if (each == text) return true;
    return false;
  }

  static bool rule_allows(const PolicyRule& rule, const question& q) {
    if (!among(rule.verbs(), q.verb) && !among(rule.verbs(), "*")) return false;
    if (!q.on_resource) {
      for (const auto& path : rule.non_resource_ur_ls()) {
        if (path == q.path) return true;
        if (path.back() == '*' && q.path.find(path.substr(0, path.size() - 1)) == 0) return true;
      }
      return false;
    }
    if (!among(rule.api_groups(), q.group) && !among(rule.api_groups(), "*")) return false;
    const auto whole = q.subresource.empty() ? q.resource : q.resource + "/" + q.subresource;
    const bool any_with = !q.subresource.empty() && among(rule.resources(), "*/" + q.subresource);
    if (!among(rule.resources(), whole) && !among(rule.resources(), "*") && !any_with) return false;
    return rule.resource_names().empty() || among(rule.resource_names(), q.name);
  }
};

}  // namespace troupe::test
