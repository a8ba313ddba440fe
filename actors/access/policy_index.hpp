// The roles and bindings of the cluster as a judge needs them: bindings by subject, roles by key.
//
// A value: copies share what did not change. One that was published is never changed, so any thread
// judges by it without a lock (policy.hpp).
//
// The roles of a subject with a few bindings are looked at one after the other. One with many is
// judged by a table of all roles (rule_table.hpp), which the first such request after a change of a
// role builds; until it stands, others go on to walk.
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
  // Kinds that it knows; others are not to be given to it.
  static bool is_policy(const api::kind_info& kind) noexcept;

  // What the object is now, and what it was before; null: not there.
  void change(const api::object_ptr& before, const api::object_ptr& now);

  // Whether a rule allows it. `reason`, where given, says which binding does, or what is wrong with
  // the bindings that could (upstream's words); empty where there is nothing to say.
  bool allows(const identity& who, const attempt& attempt, std::string* reason = nullptr) const;

  // The rules that the identity has in the whole cluster and, unless it is empty, in a namespace.
  // A rule comes as often as it is bound.
  void each_rule(const identity& who, std::string_view ns,
                 const std::function<void(const PolicyRule& rule)>& visit) const;

  // Those that are there or are bound, and those that have something.
  std::size_t roles() const { return numbers_.size(); }
  std::size_t subjects() const { return grants_.size(); }

 private:
  // One subject of one binding. Views into the binding.
  struct grant {
    api::object_ptr binding;
    const api::rbac::v1::Subject* subject;
    std::size_t role;  // number in roles_
  };
  // Where they are many, the numbers of their roles, as bits.
  struct grants {
    std::vector<grant> all;
    std::vector<std::uint64_t> roles;

    void count_roles();
    bool has_role(std::uint32_t number) const noexcept {
      return number / 64 < roles.size() && (roles[number / 64] >> number % 64 & 1) != 0;
    }
  };
  // A look at these bits spares the look at most rules: a rule without a bit of the attempt does
  // not allow it.
  struct filter {
    std::uint64_t verbs = 0, resources = 0;
  };
  struct role {
    api::object_ptr object;
    const rule_list* rules;
    std::vector<filter> filters;  // of the rules, in their order
  };
  using role_ptr = std::shared_ptr<const role>;
  // A role that is there or is bound; it keeps its number as long as it is either.
  struct role_slot {
    role_ptr there;  // null where it is not
    filter any;      // of all its rules together
    std::size_t uses = 0;
    std::shared_ptr<const std::string> key;
  };

  // Of the roles as they are: filled once.
  struct lazy_table {
    std::atomic<std::shared_ptr<const rule_table>> built;
    std::atomic_flag building;
  };

  void change_role(const api::object& of, const api::object_ptr& now);
  void change_binding(const api::object_ptr& binding, bool present);
  // The number of a role that has one use more; one that has one use less.
  std::size_t use(const std::string& key);
  void unuse(std::size_t number);
  static role_ptr compile(const api::object_ptr& object);
  static filter filter_of(const PolicyRule& rule);
  // Null while another thread builds it.
  std::shared_ptr<const rule_table> table() const;
  // A request that is being judged.
  struct judging;
  bool allows(const role& role, const judging& by) const;
  bool allows(const grant& grant, judging& by) const;
  bool any_allows(const grants& of, judging& by) const;
  bool lacks_role(const grants& of) const;
  // Until `visit` says true of those of a subject. Those of the cluster first.
  template <class F>
  bool each_subject(const identity& who, std::string_view ns, F visit) const;

  shard_map<std::size_t> numbers_;  // by "NAMESPACE/NAME", of cluster roles by "/NAME"
  page_list<role_slot> roles_;
  std::vector<std::size_t> unused_;  // numbers
  shard_map<grants> grants_;         // by namespace ("" for cluster bindings) and subject
  std::shared_ptr<lazy_table> table_ = std::make_shared<lazy_table>();
};

}  // namespace troupe::actors::access
