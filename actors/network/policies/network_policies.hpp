// Keeps the rules of this node as the NetworkPolicies of the cluster say, for the pods of this node
// that have an address of their own. One actor a node.
//
// The rules are written as `nft::script_writer` says; they stay when the program stops. Pods and
// namespaces are followed from the first policy on.
//
// Whoever starts the containers of a pod asks first (`guard_pod`): the answer comes when the rules
// of that pod are in force, or with the reason why they are not
// (docs/decisions/0051-network-policies.md).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "actors/core/informer.hpp"
#include "actors/network/nft/script_writer.hpp"
#include "actors/network/policies/policy_table.hpp"

namespace troupe::actors::policies {

// Takes a script on a thread of its own and calls `done` there, with the problem or with nothing.
using run_script = std::function<void(std::string script, std::function<void(std::string)> done)>;

// Answered by `done`, with the problem or with nothing. The pod is known by this address from now
// on, whatever its status says. Asked again, it is answered again.
struct guard_pod {
  api::object_ptr pod;
  std::string address;
  std::function<void(std::string problem)> done;
};

struct network_policies_options {
  std::string node;
  run_script run;
};

class network_policies : public informer {
 public:
  network_policies(runtime::actor_ref watcher, network_policies_options options);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  // The address that the node has given to a pod of its own.
  struct claim {
    api::object_ptr pod;
    ipv4 address = 0;
    std::uint64_t sequence = 0;  // of two with one address the later one has it
  };
  // By uid of the pod: who asks again is answered once.
  using answers = std::unordered_map<std::string, std::function<void(std::string)>>;

  void on_policies(const watch_events& m);
  void on_namespaces(const watch_events& m);
  void on_pods(const watch_events& m);
  void on_guard_pod(const guard_pod& m);
  void on_script_done(const nft::script_done& m);
  void on_rules_removed(const nft::rules_removed& m);
  void apply_soon();
  bool apply();
  nft::script_writer make_writer();
  policy_state state_now() const;
  static void answer(answers& waiting, const std::string& problem);

  const network_policies_options options_;
  std::map<std::string, api::object_ptr> policies_, namespaces_;  // by key; by name
  std::unordered_map<std::string, api::object_ptr> pods_;         // by uid
  std::unordered_map<std::string, claim> claims_;                 // by uid
  std::uint64_t last_claim_ = 0;
  policy_table table_;
  bool follows_all_ = false, changed_ = false, known_ = false;
  answers waiting_, running_for_;
  nft::script_writer writer_;
  runtime::timer apply_;
};

}  // namespace troupe::actors::policies
