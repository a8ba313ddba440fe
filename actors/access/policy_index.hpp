// Roles and bindings of the cluster, indexed for authorization: bindings by subject, roles by key.
//
// A value with structural sharing. A published index is immutable, so any thread reads it without a
// lock (policy.hpp).
//
// For a subject with few bindings each role is checked. For a subject with many bindings a table of
// all roles is used (rule_table.hpp); the first such request after a change of a role builds it,
// and others walk until it is built.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/access/page_list.hpp"
#include "actors/access/rule_table.hpp"
#include "actors/access/rules.hpp"
#include "actors/access/shard_map.hpp"
#include "api/object/object.hpp"

namespace troupe::actors::access {

class policy_index {
 public:
  // True for the kinds that the index handles; other kinds must not be passed.
  static bool is_policy(const api::kind_info& kind) noexcept;

  // The new and the previous state of an object; null: absent.
  void change(const api::object_ptr& before, const api::object_ptr& now);

  // Returns true if a rule allows the request. `reason`, if not null, gets the binding that allows
  // it or the problems of related bindings, in upstream's wording; empty if there are none.
  bool allows(const identity& who, const attempt& attempt, std::string* reason = nullptr) const;

  // Visits the rules of the user in the whole cluster and, unless `ns` is empty, in a namespace,
  // each as often as it is bound.
  void each_rule(const identity& who, std::string_view ns,
                 const std::function<void(const PolicyRule& rule)>& visit) const;

  // The number of roles that exist or are bound, and of subjects with bindings.
  std::size_t roles() const { return numbers_.size(); }
  std::size_t subjects() const { return grants_.size(); }

 private:
  // One subject of one binding. Views into the binding.
  struct grant {
    api::object_ptr binding;
    const api::rbac::v1::Subject* subject;
    std::size_t role;  // number in roles_
  };
  // With many bindings `roles` holds the numbers of their roles as bits.
  struct grants {
    std::vector<grant> all;
    std::vector<std::uint64_t> roles;

    void count_roles();
    bool has_role(std::uint32_t number) const noexcept {
      return number / 64 < roles.size() && (roles[number / 64] >> number % 64 & 1) != 0;
    }
  };
  // A prefilter that skips most rules: a rule can allow only requests whose bits it
  // has.
  struct filter {
    std::uint64_t verbs = 0, resources = 0;
  };
  struct role {
    api::object_ptr object;
    const rule_list* rules;
    std::vector<filter> filters;  // of the rules, in their order
  };
  using role_ptr = std::shared_ptr<const role>;
  // A role that exists or is bound; its number is stable as long as it is either.
  struct role_slot {
    role_ptr there;  // null if it does not exist
    filter any;      // union over its rules
    std::size_t uses = 0;
    std::shared_ptr<const std::string> key;
  };

  // The table of the current roles, built once.
  struct lazy_table {
    std::atomic<std::shared_ptr<const rule_table>> built;
    std::atomic_flag building;
  };

  void change_role(const api::object& of, const api::object_ptr& now);
  void change_binding(const api::object_ptr& binding, bool present);
  // Return the number of a role with its use count incremented; decrement it.
  std::size_t use(const std::string& key);
  void unuse(std::size_t number);
  static role_ptr compile(const api::object_ptr& object);
  static filter filter_of(const PolicyRule& rule);
  // Returns null while another thread builds the table.
  std::shared_ptr<const rule_table> table() const;
  // A request that is being authorized.
  struct evaluation_state;
  bool allows(const role& role, const evaluation_state& by) const;
  bool allows(const grant& grant, evaluation_state& by) const;
  bool any_allows(const grants& of, evaluation_state& by) const;
  bool lacks_role(const grants& of) const;
  // Visits the bindings of the user's subjects, cluster bindings first, until `visit` returns true.
  template <class F>
  bool each_subject(const identity& who, std::string_view ns, F visit) const;

  shard_map<std::size_t> numbers_;  // by "NAMESPACE/NAME", for cluster roles "/NAME"
  page_list<role_slot> roles_;
  std::vector<std::size_t> unused_;  // numbers
  shard_map<grants> grants_;         // by namespace ("" for cluster bindings) and subject
  std::shared_ptr<lazy_table> table_ = std::make_shared<lazy_table>();
};

}  // namespace troupe::actors::access
