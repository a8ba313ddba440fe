#include "server/access/rbac_authorizer.hpp"

#include <algorithm>
#include <utility>

#include "server/access/authentication.hpp"

namespace troupe::server {
namespace {

using actors::access::identity;
using actors::access::PolicyRule;
using api::authorization::v1::SubjectRulesReviewStatus;

// Calls `evaluate` with the user as a subject of bindings.
template <class F>
auto as_subject(const user_info& user, F evaluate) {
  if (!user.in_group(bootstrappers_group)) return evaluate(identity{user.name, user.groups});
  auto groups = user.groups;
  std::erase(groups, authenticated_group);
  return evaluate(identity{user.name, groups});
}

void add(const PolicyRule& rule, SubjectRulesReviewStatus& into) {
  if (!rule.resources().empty()) {
    auto& out = *into.add_resource_rules();
    *out.mutable_verbs() = rule.verbs();
    *out.mutable_api_groups() = rule.api_groups();
    *out.mutable_resources() = rule.resources();
    *out.mutable_resource_names() = rule.resource_names();
  }
  if (!rule.non_resource_ur_ls().empty()) {
    auto& out = *into.add_non_resource_rules();
    *out.mutable_verbs() = rule.verbs();
    *out.mutable_non_resource_ur_ls() = rule.non_resource_ur_ls();
  }
}

}  // namespace

actors::access::attempt attempt_of(const request_info& info) {
  return {.verb = info.verb,
          .on_resource = info.is_resource,
          .group = info.group,
          .resource = info.resource,
          .subresource = info.subresource,
          .name = info.name,
          .ns = info.namespace_name,
          .path = info.path};
}

rbac_authorizer::rbac_authorizer(std::shared_ptr<const actors::access::policy> policy)
    : policy_{std::move(policy)} {}

decision rbac_authorizer::authorize(const user_info& user, const request_info& info,
                                    std::string* reason) const {
  const auto index = policy_->now();
  const bool allowed = as_subject(user, [&](const identity& subject) {
    return index->allows(subject, attempt_of(info), reason);
  });
  return allowed ? decision::allow : decision::no_opinion;
}

void rbac_authorizer::list(const user_info& user, std::string_view ns,
                           SubjectRulesReviewStatus& into) const {
  // Masters are listed as allowed everything already.
  if (user.in_group(masters_group)) return;
  const auto index = policy_->now();
  as_subject(user, [&](const identity& subject) {
    index->each_rule(subject, ns, [&](const PolicyRule& rule) { add(rule, into); });
  });
}

}  // namespace troupe::server
