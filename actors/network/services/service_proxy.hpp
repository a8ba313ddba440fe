// Maintains the service rules of this node, like upstream's kube-proxy, from the cluster's Services
// and EndpointSlices and the zone of its Node; and the host ports of its pods. One actor per node.
//
// Before the containers of a pod with host ports start, the pod worker sends `nft::guard_pod`: it
// is answered when they are in force, or with the reason why they are not
// (docs/decisions/0088-host-ports.md).
//
// `nft::script_writer` controls when rules are written; they stay when the program stops.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/network/nft/rule_waiters.hpp"
#include "actors/network/nft/script_writer.hpp"
#include "actors/network/services/nft_table.hpp"
#include "actors/network/watch/service_informer.hpp"

namespace troupe::actors::services {

struct rule_change {
  std::string script;
  // After the change, connections of these destinations to other endpoints are removed.
  udp_endpoints udp = {};
  udp_endpoints udp_v6 = {};
};

// Applies a change on another thread and calls `done` there, with the error or an empty text.
// Changes are applied in the order of the calls.
using make_change = std::function<void(rule_change change, std::function<void(std::string)> done)>;

struct service_proxy_options {
  std::string node;  // its zone is read from its Node
  // One for each address family of services.
  std::vector<table_options> tables;
  make_change run;
  // The slice of default/kubernetes on this node, instead of the stored ones; null: those.
  api::object_ptr own_api = {};
  // A table of a family that was refused: it is added when the check accepts the family.
  std::optional<table_options> refused = {};
  nft::check_family check = {};
};

class service_proxy : public service_informer {
 public:
  service_proxy(runtime::actor_ref watcher, service_proxy_options options);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_node(const watch_events& m);
  void on_pods(const watch_events& m);
  void on_guard_pod(const nft::guard_pod& m);
  void apply(const std::set<std::string>& changed) override;
  void apply_pod(const std::string& uid);
  void on_script_done(const nft::script_done& m);
  void on_rules_removed(const nft::rules_removed& m);
  void on_family_checked(const nft::family_checked& m);
  void check_family();
  nft::script_writer make_writer();
  udp_endpoints changed_udp(const address_family& family) const;

  const service_proxy_options options_;
  node_place place_;
  // By uid: this node's pods with host ports, and the addresses that the node has given to them.
  std::unordered_map<std::string, api::object_ptr> pods_;
  std::unordered_map<std::string, std::vector<std::string>> claims_;
  std::set<std::string> changed_pods_;
  std::map<std::string, nft::guard_pod> asked_;  // by uid: until the next `apply`
  std::vector<service_table> tables_;
  nft::rule_waiters waiters_;
  nft::script_writer writer_;
  runtime::timer check_;
};

}  // namespace troupe::actors::services
