// The network of one node, put together: its DNS server, its rules for services and policies and
// the network of its pods, with the actors that keep them. Owned by who starts the node; it
// outlives the actors of the system.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/network/dns/dns_server.hpp"
#include "actors/network/nft/rule_monitor.hpp"
#include "actors/network/routing/machine_network.hpp"
#include "api/object/object.hpp"
#include "api/values/cidr.hpp"
#include "runtime/actor_system.hpp"
#include "runtime/worker_pool.hpp"

namespace troupe::actors {

struct node_network_options {
  std::string node;
  bool services = false;  // rules by nft, and DNS at its service address
  // Addresses and routes for pods; with services only. Absent: pods have those of their nodes, or
  // another program gives them theirs.
  std::optional<routing::machine_network_options> pods = {};
  // The range of IPv6 addresses of services; empty: they have none. With services only.
  std::string services_v6 = {};
  // The ranges of all pods.
  std::vector<api::cidr> pod_ranges = {};
  // Where DNS is served besides or without these; empty: nowhere.
  std::string dns_host = {};
  std::uint16_t dns_port = 0;
  // A file that says that this machine has rules of ours; empty: none is made.
  std::filesystem::path marker = {};
};

class node_network {
 public:
  // The error names what is missing. Reads resolv.conf: not for an actor's thread.
  static tl::expected<std::unique_ptr<node_network>, std::string> start(
      node_network_options options);
  // Why this machine can have no rules for services; empty: it can.
  static std::string missing_for_services();

  // Asked for each pod with an address of its own before its containers start, once this follows
  // the cluster: `done` comes when network policies are in force for it. Empty where there are no
  // rules.
  using pod_guard = std::function<void(const api::object_ptr& pod, const std::string& address,
                                       std::function<void(std::string problem)> done)>;
  pod_guard guard() const;

  // Begins to follow the cluster.
  void follow(runtime::actor_system& system, const runtime::actor_ref& watcher);
  const dns::socket_address* dns_address() const {
    return state_->dns ? &state_->dns->address() : nullptr;
  }

 private:
  // What actors use until the last of them has ended.
  struct state {
    std::unique_ptr<dns::dns_server> dns;
    std::unique_ptr<nft::rule_monitor> monitor;
    std::unique_ptr<runtime::worker_pool> nft;
    std::unique_ptr<runtime::worker_pool> pods;
  };

  explicit node_network(node_network_options options) : options_{std::move(options)} {}
  tl::expected<void, std::string> serve_dns();
  void follow_dns(runtime::actor_system& system, const runtime::actor_ref& watcher);
  void follow_services(runtime::actor_system& system, const runtime::actor_ref& watcher);
  void follow_policies(runtime::actor_system& system, const runtime::actor_ref& watcher);
  void follow_nodes(runtime::actor_system& system, const runtime::actor_ref& watcher);

  const node_network_options options_;
  const std::shared_ptr<state> state_ = std::make_shared<state>();
  runtime::actor_ref policies_;
};

struct network_markers {
  std::filesystem::path services;   // as node_network_options::marker
  std::filesystem::path pods;       // as machine_network_options::marker
  std::filesystem::path addresses;  // as machine_network_options::addresses
};

// Takes all of ours away from this machine, where the markers say that it is there: for a node that
// leaves its cluster. Blocks.
tl::expected<void, std::string> remove_network(const network_markers& markers);

}  // namespace troupe::actors
