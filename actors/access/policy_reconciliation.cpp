// Adds the default policy to a store (default_policy.hpp).
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>

#include "actors/access/aggregation.hpp"
#include "actors/access/default_policy.hpp"
#include "actors/access/default_policy_text.hpp"
#include "actors/access/rules.hpp"
#include "actors/core/condition.hpp"
#include "actors/core/labels.hpp"
#include "actors/core/log.hpp"
#include "api/equality.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/schema/rbac_v1.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/strategy.hpp"
#include "api/values/uid.hpp"

namespace troupe::actors::access {

using namespace api::rbac::v1;

namespace {

constexpr const char* autoupdate = "rbac.authorization.kubernetes.io/autoupdate";

bool is_protected(const api::meta::v1::ObjectMeta& meta) {
  return annotation_of(meta, autoupdate) == "false";
}

using string_map = google::protobuf::Map<std::string, std::string>;

// Adds missing keys; existing values stay.
bool add_absent(string_map& into, const string_map& from) {
  bool added = false;
  for (const auto& [key, value] : from) {
    if (into.contains(key)) continue;
    into[key] = value;
    added = true;
  }
  return added;
}

bool add_rules(rule_list& into, const rule_list& wanted) {
  if (same_rules(into, wanted)) return false;
  std::vector<const PolicyRule*> held;
  for (const auto& rule : into)
    held.push_back(&rule);
  const auto missing = uncovered(held, wanted);
  if (!missing || missing->empty()) return false;
  for (const auto& rule : *missing)
    *into.Add() = rule;
  return true;
}

template <class List>
bool add_elements(List& into, const List& wanted) {
  bool added = false;
  for (const auto& each : wanted) {
    const bool known = std::any_of(into.begin(), into.end(),
                                   [&](const auto& one) { return api::same_meaning(one, each); });
    if (!known) *into.Add() = each;
    added |= !known;
  }
  return added;
}

bool complete(Role& now, const Role& wanted) {
  return add_rules(*now.mutable_rules(), wanted.rules());
}

bool complete(ClusterRole& now, const ClusterRole& wanted) {
  if (!wanted.has_aggregation_rule()) return add_rules(*now.mutable_rules(), wanted.rules());
  return add_elements(*now.mutable_aggregation_rule()->mutable_cluster_role_selectors(),
                      wanted.aggregation_rule().cluster_role_selectors());
}

template <class Binding>
bool complete_binding(Binding& now, const Binding& wanted) {
  return add_elements(*now.mutable_subjects(), wanted.subjects());
}
bool complete(RoleBinding& now, const RoleBinding& wanted) {
  return complete_binding(now, wanted);
}
bool complete(ClusterRoleBinding& now, const ClusterRoleBinding& wanted) {
  return complete_binding(now, wanted);
}

template <class T>
bool is_another_role(const T& now, const T& wanted) {
  if constexpr (requires { now.role_ref(); }) {
    if (api::same_meaning(now.role_ref(), wanted.role_ref())) return false;
    log().warn("{} {}: is bound to {} {} instead of the default role and is not changed",
               T::descriptor()->name(), now.metadata().name(), now.role_ref().kind(),
               now.role_ref().name());
    return true;
  }
  return false;
}

// The object with its missing parts; null if it is complete.
template <class T>
std::unique_ptr<T> completed(const api::object& found, const T& wanted) {
  const auto& was = found.as<T>();
  if (is_protected(was.metadata()) || is_another_role(was, wanted)) return nullptr;
  auto now = std::make_unique<T>(was);
  bool changed = complete(*now, wanted);
  changed |= add_absent(*now->mutable_metadata()->mutable_labels(), wanted.metadata().labels());
  changed |=
      add_absent(*now->mutable_metadata()->mutable_annotations(), wanted.metadata().annotations());
  return changed ? std::move(now) : nullptr;
}

class reconciliation {
 public:
  reconciliation(const persistence::snapshot& state, runtime::wall_time now,
                 std::mt19937_64& random, persistence::transaction& into)
      : state_{state}, now_{now}, random_{random}, into_{into} {}

  void run(std::unique_ptr<api::body> wanted) {
    const auto& type = *wanted->GetDescriptor();
    if (&type == Role::descriptor()) return settle<Role>(std::move(wanted));
    if (&type == ClusterRole::descriptor()) return settle<ClusterRole>(std::move(wanted));
    if (&type == RoleBinding::descriptor()) return settle<RoleBinding>(std::move(wanted));
    settle<ClusterRoleBinding>(std::move(wanted));
  }

 private:
  template <class T>
  void settle(std::unique_ptr<api::body> content) {
    auto& wanted = static_cast<T&>(*content);
    const auto& kind = api::kind_of<T>();
    auto key = kind.key(wanted.metadata().namespace_(), wanted.metadata().name());
    if (const auto found = state_.find(key)) {
      if (auto now = completed<T>(*found, wanted)) write(found, std::move(key), std::move(now));
      return;
    }
    if constexpr (std::is_same_v<T, ClusterRole>) aggregate(wanted);
    const auto uid = api::generated_uid(random_);
    const api::random_bits draw = [this] { return random_(); };
    api::prepare_create(kind, *content, {uid, seconds_of(now_), draw});
    into_.preconditions.push_back({key, 0});
    into_.mutations.push_back({std::move(key), &kind, std::move(content)});
  }

  void write(const api::object_ptr& found, std::string key, std::unique_ptr<api::body> now) {
    log().info("{} {}: adds missing parts of the default", found->kind().kind(),
               found->meta().name());
    into_.preconditions.push_back({key, found->revision()});
    into_.mutations.push_back({std::move(key), &found->kind(), std::move(now)});
  }

  // A new role is complete at once; the text lists the roles that it selects before it.
  void aggregate(ClusterRole& role) {
    if (access::aggregates(role)) *role.mutable_rules() = aggregated_rules(role, known());
    auto copy = std::make_unique<ClusterRole>(role);
    known()[role.metadata().name()] =
        std::make_shared<const api::object>(api::kind_of<ClusterRole>(), std::move(copy), 0);
  }

  // The ClusterRoles of the store, read on demand, and the added ones.
  cluster_roles& known() {
    if (known_) return *known_;
    known_.emplace();
    state_.scan(api::kind_of<ClusterRole>().prefix(), {},
                [&](std::string_view, const api::object_ptr& found) {
                  known_->emplace(found->meta().name(), found);
                  return true;
                });
    return *known_;
  }

  const persistence::snapshot& state_;
  const runtime::wall_time now_;
  std::mt19937_64& random_;
  persistence::transaction& into_;
  std::optional<cluster_roles> known_;
};

}  // namespace

void reconcile_policy(const persistence::snapshot& state, runtime::wall_time now,
                      std::mt19937_64& random, persistence::transaction& into) {
  reconciliation all{state, now, random, into};
  for (auto& wanted : read_policy(default_policy_text))
    all.run(std::move(wanted));
}

}  // namespace troupe::actors::access
