#include "actors/access/policy_index.hpp"

#include <algorithm>
#include <bit>

#include "actors/access/defaults.hpp"
#include "actors/access/held_rules.hpp"
#include "actors/access/text_hash.hpp"
#include "api/codec/json_text.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::access {

using api::rbac::v1::ClusterRole;
using api::rbac::v1::ClusterRoleBinding;
using api::rbac::v1::Role;
using api::rbac::v1::RoleBinding;
using api::rbac::v1::RoleRef;
using api::rbac::v1::Subject;

namespace {

constexpr std::uint64_t any = ~std::uint64_t{0};

std::uint64_t bit_of(std::string_view text) noexcept {
  return text_hash{}.add(text).bit();
}

std::string role_key(std::string_view ns, std::string_view name) {
  std::string key{ns};
  return key.append("/").append(name);
}

// Namespaces and subject kinds contain no line break.
std::string subject_key(std::string_view ns, char kind, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + name.size() + 2);
  key.append(ns).append(1, '\n').append(1, kind).append(name);
  return key;
}

const RoleRef& reference_of(const api::object& binding) {
  if (&binding.kind() == &api::kind_of<RoleBinding>()) return binding.as<RoleBinding>().role_ref();
  return binding.as<ClusterRoleBinding>().role_ref();
}

const google::protobuf::RepeatedPtrField<Subject>& subjects_of(const api::object& binding) {
  if (&binding.kind() == &api::kind_of<RoleBinding>()) return binding.as<RoleBinding>().subjects();
  return binding.as<ClusterRoleBinding>().subjects();
}

// Empty for an unknown kind of subject.
std::string key_of(const Subject& subject, const std::string& ns) {
  if (subject.kind() == "User") return subject_key(ns, 'u', subject.name());
  if (subject.kind() == "Group") return subject_key(ns, 'g', subject.name());
  if (subject.kind() != "ServiceAccount") return {};
  const auto& home = subject.namespace_().empty() ? ns : subject.namespace_();
  return home.empty() ? std::string{} : subject_key(ns, 'u', account_user(home, subject.name()));
}

// kubernetes: plugin/pkg/auth/authorizer/rbac/rbac.go and pkg/registry/rbac/validation/rule.go.
std::string describe_subject(const Subject& subject, const std::string& ns) {
  auto name = subject.name();
  if (subject.kind() == "ServiceAccount")
    name += "/" + (subject.namespace_().empty() ? ns : subject.namespace_());
  return subject.kind() + " " + api::quoted(name);
}

std::string describe(const api::object& binding, const Subject& subject) {
  const auto& ns = binding.meta().namespace_();
  const auto& role = reference_of(binding);
  const auto name = ns.empty() ? binding.meta().name() : binding.meta().name() + "/" + ns;
  return binding.kind().kind() + " " + api::quoted(name) + " of " + role.kind() + " " +
         api::quoted(role.name()) + " to " + describe_subject(subject, ns);
}

// Like Go's aggregate of errors: one error as it is, several in brackets, without duplicates.
std::string describe_missing(std::vector<std::string> missing) {
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  std::string out;
  for (const auto& each : missing)
    out += (out.empty() ? "" : ", ") + each;
  return missing.size() > 1 ? "[" + out + "]" : out;
}

}  // namespace

bool policy_index::is_policy(const api::kind_info& kind) noexcept {
  return &kind == &api::kind_of<Role>() || &kind == &api::kind_of<ClusterRole>() ||
         &kind == &api::kind_of<RoleBinding>() || &kind == &api::kind_of<ClusterRoleBinding>();
}

// -- changes --------------------------------------------------------------------------------------

void policy_index::change(const api::object_ptr& before, const api::object_ptr& now) {
  const auto& object = now ? now : before;
  const auto& kind = object->kind();
  if (&kind == &api::kind_of<Role>() || &kind == &api::kind_of<ClusterRole>())
    return change_role(*object, now);
  if (before) change_binding(before, false);
  if (now) change_binding(now, true);
}

void policy_index::change_role(const api::object& of, const api::object_ptr& now) {
  const auto key = role_key(of.meta().namespace_(), of.meta().name());
  const auto* known = numbers_.find(key);
  const bool was_there = known != nullptr && roles_[*known].there != nullptr;
  if (!now && !was_there) return;
  table_ = std::make_shared<lazy_table>();
  // Existing counts as one use.
  const auto number = was_there ? *known : use(key);
  roles_.update(number, [&](role_slot& slot) {
    slot.there = now ? compile(now) : nullptr;
    slot.any = {};
    if (slot.there == nullptr) return;
    for (const auto& each : slot.there->filters) {
      slot.any.verbs |= each.verbs;
      slot.any.resources |= each.resources;
    }
  });
  if (!now) unuse(number);
}

void policy_index::change_binding(const api::object_ptr& binding, bool present) {
  const auto& ns = binding->meta().namespace_();
  const auto& reference = reference_of(*binding);
  const auto role = role_key(reference.kind() == "Role" ? ns : std::string{}, reference.name());
  for (const auto& subject : subjects_of(*binding)) {
    const auto key = key_of(subject, ns);
    if (key.empty()) continue;
    grants_.update(key, [&](grants& of) {
      std::erase_if(of.all, [&](const grant& each) {
        if (each.binding->meta().name() != binding->meta().name()) return false;
        unuse(each.role);
        return true;
      });
      if (present) of.all.push_back({binding, &subject, use(role)});
      of.count_roles();
      return !of.all.empty();
    });
  }
}

void policy_index::grants::count_roles() {
  roles.clear();
  if (all.size() <= defaults::walked_grants) return;
  for (const auto& each : all) {
    if (each.role / 64 >= roles.size()) roles.resize(each.role / 64 + 1);
    roles[each.role / 64] |= std::uint64_t{1} << each.role % 64;
  }
}

std::size_t policy_index::use(const std::string& key) {
  std::size_t number = 0;
  if (const auto* known = numbers_.find(key)) {
    number = *known;
  } else {
    if (unused_.empty()) {
      number = roles_.grow();
    } else {
      number = unused_.back();
      unused_.pop_back();
    }
    numbers_.update(key, [&](std::size_t& kept) {
      kept = number;
      return true;
    });
  }
  roles_.update(number, [&](role_slot& slot) {
    if (slot.uses++ == 0) slot.key = std::make_shared<const std::string>(key);
  });
  return number;
}

void policy_index::unuse(std::size_t number) {
  std::shared_ptr<const std::string> last;
  roles_.update(number, [&](role_slot& slot) {
    if (--slot.uses == 0) last = std::move(slot.key);
  });
  if (!last) return;
  unused_.push_back(number);
  numbers_.update(*last, [](std::size_t&) { return false; });
}

policy_index::role_ptr policy_index::compile(const api::object_ptr& object) {
  auto made = std::make_shared<role>();
  made->object = object;
  made->rules = &rules_of(*object);
  made->filters.reserve(static_cast<std::size_t>(made->rules->size()));
  for (const auto& rule : *made->rules)
    made->filters.push_back(filter_of(rule));
  return made;
}

policy_index::filter policy_index::filter_of(const PolicyRule& rule) {
  filter out;
  for (const auto& verb : rule.verbs())
    out.verbs |= verb == "*" ? any : bit_of(verb);
  for (const auto& resource : rule.resources())
    out.resources |= resource.starts_with('*') ? any : bit_of(resource);
  if (!rule.non_resource_ur_ls().empty()) out.resources = any;
  return out;
}

// -- authorization ------------------------------------------------------------------------------

struct policy_index::evaluation_state {
  const attempt& of;
  filter bits;
  std::string* reason;
  std::vector<std::string> missing = {};  // roles, if a reason is requested

  void grants_by(const grant& grant) const {
    if (reason != nullptr) *reason = "RBAC: allowed by " + describe(*grant.binding, *grant.subject);
  }
};

template <class F>
bool policy_index::each_subject(const identity& who, std::string_view ns, F visit) const {
  const auto of_subject = [&](std::string_view scope, char kind, std::string_view name) {
    const auto* found = grants_.find(subject_key(scope, kind, name));
    return found != nullptr && visit(*found);
  };
  const auto in_scope = [&](std::string_view scope) {
    return of_subject(scope, 'u', who.name) ||
           std::any_of(who.groups.begin(), who.groups.end(),
                       [&](const std::string& group) { return of_subject(scope, 'g', group); });
  };
  return in_scope({}) || (!ns.empty() && in_scope(ns));
}

std::shared_ptr<const rule_table> policy_index::table() const {
  if (auto built = table_->built.load(std::memory_order_acquire)) return built;
  if (table_->building.test_and_set()) return nullptr;
  auto made = std::make_shared<rule_table>();
  for (std::size_t i = 0; i < roles_.size(); ++i)
    if (const auto& role = roles_[i].there) made->add(static_cast<std::uint32_t>(i), *role->rules);
  table_->built.store(made, std::memory_order_release);
  return made;
}

bool policy_index::allows(const role& role, const evaluation_state& by) const {
  for (std::size_t i = 0; i < role.filters.size(); ++i) {
    const auto& may = role.filters[i];
    if ((may.verbs & by.bits.verbs) == 0 || (may.resources & by.bits.resources) == 0) continue;
    if (access::allows((*role.rules)[static_cast<int>(i)], by.of)) return true;
  }
  return false;
}

bool policy_index::allows(const grant& grant, evaluation_state& by) const {
  const auto& role = roles_[grant.role];
  if (by.reason != nullptr && role.there == nullptr)
    by.missing.push_back(describe_missing(reference_of(*grant.binding)));
  if ((role.any.verbs & by.bits.verbs) == 0 || (role.any.resources & by.bits.resources) == 0)
    return false;
  if (!allows(*role.there, by)) return false;
  by.grants_by(grant);
  return true;
}

bool policy_index::lacks_role(const grants& of) const {
  for (std::size_t word = 0; word < of.roles.size(); ++word)
    for (auto bits = of.roles[word]; bits != 0; bits &= bits - 1)
      if (roles_[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))].there == nullptr)
        return true;
  return false;
}

bool policy_index::any_allows(const grants& of, evaluation_state& by) const {
  const auto walk = [&] {
    return std::any_of(of.all.begin(), of.all.end(),
                       [&](const grant& each) { return allows(each, by); });
  };
  const auto known = of.roles.empty() ? nullptr : table();
  if (!known) return walk();
  const bool allowed = known->find(by.of, [&](std::uint32_t number) {
    return of.has_role(number) && allows(*roles_[number].there, by);
  });
  // A reason names the first binding that allows, or the missing roles.
  return by.reason != nullptr && (allowed || lacks_role(of)) ? walk() : allowed;
}

bool policy_index::allows(const identity& who, const attempt& attempt, std::string* reason) const {
  text_hash resource;
  resource.add(attempt.resource);
  if (!attempt.subresource.empty()) resource.add("/").add(attempt.subresource);
  evaluation_state by{
      attempt, {bit_of(attempt.verb), attempt.on_resource ? resource.bit() : any}, reason};
  const auto ns = attempt.on_resource ? attempt.ns : std::string_view{};
  const bool allowed = each_subject(who, ns, [&](const grants& of) { return any_allows(of, by); });
  if (!allowed && !by.missing.empty()) *reason = "RBAC: " + describe_missing(std::move(by.missing));
  return allowed;
}

void policy_index::each_rule(const identity& who, std::string_view ns,
                             const std::function<void(const PolicyRule&)>& visit) const {
  each_subject(who, ns, [&](const grants& of) {
    for (const auto& each : of.all)
      if (const auto& role = roles_[each.role].there)
        for (const auto& rule : *role->rules)
          visit(rule);
    return false;
  });
}

}  // namespace troupe::actors::access
