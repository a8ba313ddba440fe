// The network of one node: owns its DNS server, its nftables rules for services and policies and
// the network of its pods, and spawns their actors. The starter of the node owns this object, which
// outlives the actors of the system.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/network/dns/dns_server.hpp"
#include "actors/network/nft/rule_monitor.hpp"
#include "actors/network/routing/machine_network.hpp"
#include "actors/network/services/service_proxy.hpp"
#include "api/object/object.hpp"
#include "api/values/cidr.hpp"
#include "runtime/actor_system.hpp"
#include "runtime/worker_pool.hpp"

namespace troupe::actors {

struct node_network_options {
  std::string node;
  bool services = false;  // nftables rules, and DNS at its service address
  // Addresses and routes for pods; requires services. Absent: pods use the addresses of their
  // nodes, or another program assigns addresses.
  std::optional<routing::machine_network_options> pods = {};
  // The IPv6 range of services; empty: services have no IPv6 addresses. Requires services.
  std::string services_v6 = {};
  // The address ranges of all pods of the cluster.
  std::vector<api::cidr> pod_ranges = {};
  // An additional or sole DNS address; empty: none.
  std::string dns_host = {};
  std::uint16_t dns_port = 0;
  // The port of the API if it listens on loopback addresses of this machine, which pods do not
  // reach: then this machine also has the service address of the API, where the starter of the node
  // serves it at the same port. 0: others reach the API. Without `services` it is ignored.
  std::uint16_t loopback_api_port = 0;
  // A file that exists while this machine has rules of ours; empty: no such file is created.
  std::filesystem::path marker = {};
};

class node_network {
 public:
  // Starts DNS. The error names what is missing. Not for actor threads.
  static tl::expected<std::unique_ptr<node_network>, std::string> start(
      node_network_options options);
  // Why this machine cannot have rules for services; empty: it can.
  static std::string missing_for_services();

  // To be called for each pod with its own addresses before its containers start: `done` is called
  // when network policies are in force for the pod and then its host ports, at the earliest after
  // `follow`. Empty if there are no rules.
  using pod_guard =
      std::function<void(const api::object_ptr& pod, const std::vector<std::string>& addresses,
                         std::function<void(std::string problem)> done)>;
  pod_guard guard() const;

  // Tells what is wrong with the network of this node's pods, in one line. Any thread; see
  // kubelet_options::network_problem. Empty if this object makes no such network.
  std::function<std::optional<std::string>()> pod_problem() const;

  // Starts to watch the cluster.
  void follow(runtime::actor_system& system, const runtime::actor_ref& watcher);
  // See node_network_options::loopback_api_port.
  bool has_api_address() const { return options_.services && options_.loopback_api_port != 0; }
  const dns::socket_address* dns_address() const {
    return state_->dns ? &state_->dns->address() : nullptr;
  }

 private:
  // State that actors use until the last of them has ended.
  struct state {
    std::unique_ptr<dns::dns_server> dns;
    std::unique_ptr<nft::rule_monitor> monitor;
    std::unique_ptr<runtime::worker_pool> nft;
    std::string nft_program;
    std::unique_ptr<runtime::worker_pool> pods;
    std::mutex mutex;
    std::optional<std::string> pod_problem;  // empty text: there is none; nothing: not known yet

    // Removes a table, if there is one, on the thread for nft: rules outlive the program, also
    // those of a range that the settings do not have any more.
    void remove_old(const char* table);
    // Applies the change of these tables on the thread for nft, and calls `done` there with the
    // error or an empty text; at once if too many changes wait.
    void give(services::rule_change change, nft::table_names tables,
              std::function<void(std::string)> done);
    // Calls `done` on the thread for nft with why the kernel refuses tables of IPv6, or an empty
    // text; at once if too many changes wait.
    void check_ipv6(std::function<void(std::string)> done);
  };

  explicit node_network(node_network_options options) : options_{std::move(options)} {}
  bool wants_ipv6_of_pods() const;
  bool can_have_ipv6_rules() const;
  tl::expected<void, std::string> serve_dns();
  tl::expected<void, std::string> place_api_address();
  void follow_dns(runtime::actor_system& system, const runtime::actor_ref& watcher);
  void follow_services(runtime::actor_system& system, const runtime::actor_ref& watcher);
  void follow_policies(runtime::actor_system& system, const runtime::actor_ref& watcher);
  void follow_nodes(runtime::actor_system& system, const runtime::actor_ref& watcher);

  const node_network_options options_;
  bool ipv6_rules_ = false;  // at the start they were wanted, and the kernel accepted them
  const std::shared_ptr<state> state_ = std::make_shared<state>();
  runtime::actor_ref services_, policies_;
};

struct network_markers {
  std::filesystem::path services;   // see node_network_options::marker
  std::filesystem::path pods;       // see machine_network_options::marker
  std::filesystem::path addresses;  // see machine_network_options::addresses
};

// Removes all of our rules, routes and addresses from this machine, if the markers exist: for a
// node that leaves its cluster. Blocks.
tl::expected<void, std::string> remove_network(const network_markers& markers);

}  // namespace troupe::actors
