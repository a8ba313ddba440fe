// Maintains the rules of this node for the cluster's NetworkPolicies, for those of its pods that
// have their own address. One actor per node.
//
// `nft::script_writer` controls when rules are written; they stay when the program stops. All pods
// and namespaces are watched while there are policies.
//
// Before the containers of a pod start, the pod worker sends `nft::guard_pod`: it is answered when
// the pod's rules are in force, or with the reason why they are not
// (docs/decisions/0051-network-policies.md).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/core/informer.hpp"
#include "actors/network/nft/rule_waiters.hpp"
#include "actors/network/nft/script_writer.hpp"
#include "actors/network/policies/policy_table.hpp"

namespace troupe::actors::policies {

// Runs a script on another thread and calls `done` there, with the error or an empty text.
using run_script = std::function<void(std::string script, std::function<void(std::string)> done)>;

struct network_policies_options {
  std::string node;
  run_script run;
  // The node's pods have IPv6: its table may exist from an earlier start, so it is written even
  // without rules.
  bool has_ipv6 = false;
  // Set if they have, but the family was refused: `has_ipv6` then holds once it is accepted.
  nft::check_family check_ipv6 = {};
};

class network_policies : public informer {
 public:
  network_policies(runtime::actor_ref watcher, network_policies_options options);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  // The addresses that the node has given to one of its pods.
  struct claim {
    api::object_ptr pod;
    std::vector<std::string> addresses = {};
    std::uint64_t sequence = 0;  // if two pods have the same address, the later one owns it
  };

  void on_policies(const watch_events& m);
  void on_namespaces(const watch_events& m);
  void on_pods(const watch_events& m);
  void follow_all();
  void unfollow_all();
  void on_guard_pod(const nft::guard_pod& m);
  void on_script_done(const nft::script_done& m);
  void on_rules_removed(const nft::rules_removed& m);
  void on_family_checked(const nft::family_checked& m);
  void check_family();
  void schedule_apply();
  bool apply();
  nft::script_writer make_writer();
  policy_state state_now(const address_family& family) const;
  void compile_all();
  std::string script(nft::extent wanted);

  const network_policies_options options_;
  std::map<std::string, api::object_ptr> policies_, namespaces_;  // by key; by name
  std::unordered_map<std::string, api::object_ptr> pods_;         // by uid
  std::unordered_map<std::string, claim> claims_;                 // by uid
  std::uint64_t last_claim_ = 0;
  // That of IPv6: always with `has_ipv6`, once IPv6 is accepted, else from the first pod of this
  // node with rules in it.
  policy_table table_;
  std::optional<policy_table> table_v6_;
  stream all_pods_ = 0, all_namespaces_ = 0;  // 0: not watched
  bool changed_ = false, known_ = false;
  nft::rule_waiters waiters_;
  nft::script_writer writer_;
  runtime::timer apply_, check_;
};

}  // namespace troupe::actors::policies
