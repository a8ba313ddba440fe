#include "actors/network/node/node_network.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <utility>

#include "actors/api_servers/api_endpoints.hpp"
#include "actors/core/metrics.hpp"
#include "actors/defaults.hpp"
#include "actors/kubelet/os/resolver_file.hpp"
#include "actors/network/defaults.hpp"
#include "actors/network/dns/cluster_dns.hpp"
#include "actors/network/node/loopback_address.hpp"
#include "actors/network/policies/network_policies.hpp"
#include "actors/network/routing/pod_network.hpp"
#include "actors/network/services/conntrack.hpp"
#include "actors/network/services/host_ports.hpp"
#include "actors/network/services/nft_process.hpp"
#include "actors/network/services/service_proxy.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {
namespace {

// Maximum queue of scripts: an actor gives one at a time, and its next life may give another.
constexpr std::size_t waiting_scripts = 8;

dns::resolver_list resolvers_of_node(const std::string& ours) {
  return [ours, file = std::make_shared<resolver_file>()] {
    std::vector<dns::socket_address> out;
    for (const auto& host :
         dns::read_resolvers(file->text(), {ours, network_defaults::dns_address}))
      if (auto address = dns::make_address(host, network_defaults::dns_port))
        out.push_back(*address);
    return out;
  };
}

// The API at its service address on this machine.
api::object_ptr slice_of_api(std::uint16_t port) {
  auto slice = std::make_unique<api::discovery::v1::EndpointSlice>();
  complete(*slice, slices_of({{defaults::api_service_address, port}}).front());
  return std::make_shared<const api::object>(api::kind_of<api::discovery::v1::EndpointSlice>(),
                                             std::move(slice), 0);
}

// Returns the error; empty: success.
// `tables`: those that the script writes.
std::string apply_change(nft::rule_monitor& monitor, const std::string& nft,
                         const nft::table_names& tables, const services::rule_change& change) {
  const auto began = std::chrono::steady_clock::now();
  const auto ran = monitor.run(tables, [&](pid_t& process) {
    return services::run_nft({nft}, change.script, network_defaults::nft_limit, &process);
  });
  auto& counted = metrics_of_rules();
  counted.scripts.add(std::chrono::steady_clock::now() - began);
  if (!ran) {
    counted.failed.fetch_add(1, std::memory_order_relaxed);
    return ran.error();
  }
  for (const auto& [endpoints, family] : {std::pair{&change.udp, &services::family_v4},
                                          std::pair{&change.udp_v6, &services::family_v6}}) {
    if (endpoints->empty()) continue;
    if (const auto removed = services::remove_stale_connections(*endpoints, *family); !removed)
      return removed.error();
  }
  return {};
}

}  // namespace

void node_network::state::remove_old(const char* table) {
  nft->post([table] {
    if (const auto removed = services::remove_table(table); !removed)
      spdlog::warn("network: table {} of an earlier start was not removed: {}", table,
                   removed.error());
  });
}

void node_network::state::give(services::rule_change change, nft::table_names tables,
                               std::function<void(std::string)> done) {
  const auto shared = std::make_shared<std::function<void(std::string)>>(std::move(done));
  const bool taken = nft->post(
      [change = std::move(change), tables = std::move(tables), shared, program = nft_program,
       &monitor = *monitor] { (*shared)(apply_change(monitor, program, tables, change)); });
  if (!taken) (*shared)("too many scripts wait for nft");
}

void node_network::state::check_ipv6(std::function<void(std::string)> done) {
  const auto shared = std::make_shared<std::function<void(std::string)>>(std::move(done));
  const bool taken = nft->post(
      [shared, program = nft_program] { (*shared)(services::missing_for_ipv6({program})); });
  if (!taken) (*shared)("too many scripts wait for nft");
}

std::string node_network::missing_for_services() {
  if (!services::may_change_network())
    return "it needs the right to change the network (root, or CAP_NET_ADMIN)";
  if (!services::find_nft()) return "it needs the program nft (package nftables)";
  return {};
}

tl::expected<std::unique_ptr<node_network>, std::string> node_network::start(
    node_network_options options) {
  std::unique_ptr<node_network> made{new node_network{std::move(options)}};
  if (made->options_.services) {
    if (const auto missing = missing_for_services(); !missing.empty())
      return tl::make_unexpected("network.mode services: " + missing);
    if (!made->options_.marker.empty()) std::ofstream{made->options_.marker};
    if (const auto problem = routing::forward_ipv4(); !problem.empty())
      spdlog::warn("network: services do not lead to pods of other machines: {}", problem);
    auto monitor = nft::rule_monitor::start();
    if (!monitor) return tl::make_unexpected("network.mode services: " + monitor.error());
    made->state_->monitor = std::move(*monitor);
    made->state_->nft_program = *services::find_nft();
    made->state_->nft =
        std::make_unique<runtime::worker_pool>("nft", std::size_t{1}, waiting_scripts);
    made->ipv6_rules_ = made->can_have_ipv6_rules();
    if (made->options_.pods)
      made->state_->pods =
          std::make_unique<runtime::worker_pool>("pods", std::size_t{1}, waiting_scripts);
  }
  if (auto served = made->serve_dns(); !served) return tl::make_unexpected(served.error());
  if (auto placed = made->place_api_address(); !placed) return tl::make_unexpected(placed.error());
  return made;
}

bool node_network::wants_ipv6_of_pods() const {
  return std::any_of(options_.pod_ranges.begin(), options_.pod_ranges.end(),
                     [](const auto& range) { return range.is_v6(); });
}

// One refused table would keep the rules of the other family out of the kernel, too.
bool node_network::can_have_ipv6_rules() const {
  if (options_.services_v6.empty() && !wants_ipv6_of_pods()) return false;
  const auto missing = services::missing_for_ipv6({state_->nft_program});
  if (!missing.empty())
    spdlog::warn(
        "network: this node has no rules for IPv6, services are served by IPv4 only until they "
        "are accepted: {}",
        missing);
  return missing.empty();
}

tl::expected<void, std::string> node_network::serve_dns() {
  dns::dns_server_options server;
  if (!options_.dns_host.empty()) {
    server.address = options_.dns_host;
    server.port = options_.dns_port;
  } else if (!options_.services) {
    return {};
  } else if (auto added = add_loopback_address(server.address); !added) {
    return tl::make_unexpected(added.error());
  }
  server.resolvers = resolvers_of_node(server.address);
  auto started = dns::dns_server::start(std::move(server));
  if (!started) return tl::make_unexpected(started.error());
  state_->dns = std::move(*started);
  spdlog::info("network: DNS is served at {}", dns::to_string(state_->dns->address()));
  return {};
}

// An earlier start may have added it.
tl::expected<void, std::string> node_network::place_api_address() {
  if (!options_.services) return {};
  return has_api_address() ? add_loopback_address(defaults::api_service_address)
                           : remove_loopback_address(defaults::api_service_address);
}

void node_network::follow(runtime::actor_system& system, const runtime::actor_ref& watcher) {
  if (state_->dns) follow_dns(system, watcher);
  if (state_->nft) {
    follow_services(system, watcher);
    follow_policies(system, watcher);
  }
  if (state_->pods) follow_nodes(system, watcher);
}

void node_network::follow_dns(runtime::actor_system& system, const runtime::actor_ref& watcher) {
  dns::cluster_dns_options options;
  options.domain = network_defaults::cluster_domain;
  options.address = options_.services ? network_defaults::dns_address : options_.dns_host;
  options.publish = [held = state_](dns::table_ptr table) { held->dns->table(std::move(table)); };
  system.spawn({.kind = "cluster-dns", .name = options_.node},
               runtime::make<dns::cluster_dns>(watcher, std::move(options)));
}

void node_network::follow_services(runtime::actor_system& system,
                                   const runtime::actor_ref& watcher) {
  services::service_proxy_options options;
  options.node = options_.node;
  options.tables.push_back({.service_network = defaults::service_network});
  // Pods with IPv6 addresses have host ports of that family, without services of it too.
  const bool v6 = !options_.services_v6.empty() || wants_ipv6_of_pods();
  if (v6)
    options.tables.push_back(
        {.service_network = options_.services_v6, .family = &services::family_v6});
  if (options_.pods)
    for (auto& table : options.tables)
      for (const auto& range : options_.pod_ranges)
        if (range.is_v6() == (table.family == &services::family_v6))
          table.pod_network = range.text();
  nft::table_names written;
  for (const auto& each : options.tables)
    written.insert(each.family->table);
  if (has_api_address()) {
    options.tables.front().inner_address = defaults::api_service_address;
    options.own_api = slice_of_api(options_.loopback_api_port);
  }
  if (v6 && !ipv6_rules_) {
    options.refused = options.tables.back();
    options.tables.pop_back();
    options.check = [held = state_](auto done) { held->check_ipv6(std::move(done)); };
  }
  // Not if nft refused the tables of IPv6 just now: connections keep the rules they have.
  if (!v6) state_->remove_old(services::family_v6.table);
  options.run = [held = state_, written](services::rule_change change, auto done) {
    held->give(std::move(change), written, std::move(done));
  };
  services_ = system.spawn({.kind = "service-proxy", .name = options_.node},
                           runtime::make<services::service_proxy>(watcher, std::move(options)));
  for (const auto& table : written)
    state_->monitor->watch(table, [to = services_] { to.tell(nft::rules_removed{}); });
}

void node_network::follow_policies(runtime::actor_system& system,
                                   const runtime::actor_ref& watcher) {
  policies::network_policies_options options;
  options.node = options_.node;
  const nft::table_names written{services::family_v4.policies, services::family_v6.policies};
  options.run = [held = state_, written](std::string script, auto done) {
    held->give({std::move(script)}, written, std::move(done));
  };
  options.has_ipv6 = ipv6_rules_ && wants_ipv6_of_pods();
  if (wants_ipv6_of_pods() && !ipv6_rules_)
    options.check_ipv6 = [held = state_](auto done) { held->check_ipv6(std::move(done)); };
  // Not if nft refused the tables of IPv6 just now: pods that run keep the rules they have.
  if (!wants_ipv6_of_pods()) state_->remove_old(services::family_v6.policies);
  policies_ = system.spawn({.kind = "network-policies", .name = options_.node},
                           runtime::make<policies::network_policies>(watcher, std::move(options)));
  for (const auto& table : written)
    state_->monitor->watch(table, [to = policies_] { to.tell(nft::rules_removed{}); });
}

node_network::pod_guard node_network::guard() const {
  if (!policies_) return {};
  return [services = services_, policies = policies_](
             const api::object_ptr& pod, const std::vector<std::string>& addresses, auto done) {
    // A port is open only after the policies that may close it.
    const auto publish = [services, pod, addresses, done](const std::string& problem) {
      if (!problem.empty()) return done("network policies: " + problem);
      if (!services::has_host_ports(pod->as<api::core::v1::Pod>())) return done({});
      services.tell(nft::guard_pod{pod, addresses, [done](const std::string& refusal) {
                                     done(refusal.empty() ? refusal : "host ports: " + refusal);
                                   }});
    };
    policies.tell(nft::guard_pod{pod, addresses, publish});
  };
}

std::function<std::optional<std::string>()> node_network::pod_problem() const {
  if (!state_->pods) return {};
  return [held = state_] {
    const std::lock_guard lock{held->mutex};
    return held->pod_problem;
  };
}

void node_network::follow_nodes(runtime::actor_system& system, const runtime::actor_ref& watcher) {
  routing::pod_network_options options;
  options.node = options_.node;
  options.cluster = options_.pod_ranges;
  options.make = [held = state_, how = *options_.pods](routing::node_ranges wanted, auto done) {
    const auto shared = std::make_shared<decltype(done)>(std::move(done));
    const bool taken = held->pods->post([wanted = std::move(wanted), how, shared] {
      (*shared)(routing::make_machine_network(how, wanted));
    });
    if (!taken) (*shared)({{"too many changes of the network of pods wait"}});
  };
  options.report = [held = state_](std::string problem) {
    const std::lock_guard lock{held->mutex};
    held->pod_problem = std::move(problem);
  };
  system.spawn({.kind = "pod-network", .name = options_.node},
               runtime::make<routing::pod_network>(watcher, std::move(options)));
}

tl::expected<void, std::string> remove_network(const network_markers& markers) {
  if (auto removed = routing::remove_machine_network(markers.pods, markers.addresses); !removed)
    return removed;
  std::error_code ignored;
  if (!std::filesystem::exists(markers.services, ignored)) return {};
  if (const auto missing = node_network::missing_for_services(); !missing.empty())
    return tl::make_unexpected("the rules of services cannot be removed: " + missing);
  auto removed = services::run_nft(
      {*services::find_nft()},
      services::no_table(services::family_v4) + policies::no_policy_table(services::family_v4),
      network_defaults::nft_limit);
  for (const auto* table : {services::family_v6.table, services::family_v6.policies})
    if (removed) removed = services::remove_table(table);
  for (const auto* address : {network_defaults::dns_address, defaults::api_service_address})
    if (removed) removed = remove_loopback_address(address);
  if (removed) std::filesystem::remove(markers.services, ignored);
  return removed;
}

}  // namespace troupe::actors
