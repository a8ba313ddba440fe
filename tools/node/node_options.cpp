#include "tools/node/node_options.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <utility>

#include "actors/core/log.hpp"
#include "actors/defaults.hpp"
#include "actors/kubelet/node/feature_admission.hpp"
#include "actors/kubelet/runtimes/cri/cri_runtime.hpp"
#include "actors/kubelet/runtimes/process/process_runtime.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"
#include "actors/network/defaults.hpp"
#include "actors/write/admission/service_addresses.hpp"
#include "api/values/cidr.hpp"
#include "server/credentials/addresses.hpp"
#include "server/credentials/kubeconfig.hpp"
#include "server/http/version.hpp"
#include "tools/node/network_choice.hpp"
#include "tools/node/runtime_choice.hpp"

namespace troupe::tools {

runtime::system_options make_system_options(const config::runtime_config& from) {
  runtime::system_options options;
  options.threads = static_cast<std::size_t>(from.worker_threads);
  options.observe = from.observation == config::observation::on;
  std::random_device source;
  options.seed = (std::uint64_t{source()} << 32) | source();
  return options;
}

server::frontend_options make_frontend_options(const config::node_config& from) {
  const auto& wanted = from.server;
  const auto milliseconds = [](auto time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time);
  };
  server::frontend_options options;
  options.listen = {wanted.listen.host, wanted.listen.port};
  if (!wanted.legacy_listen.empty())
    options.legacy_listen = {wanted.legacy_listen.host, wanted.legacy_listen.port};
  options.data_dir = from.data_dir;
  options.names = wanted.names;
  if (const auto& second = from.kubelet.second_address; !second.empty())
    options.names.push_back(second.text);
  options.anonymous_access = wanted.anonymous_access == config::anonymous_access::on;
  options.http.connections = static_cast<std::size_t>(wanted.max_connections);
  options.http.body_limit_bytes = static_cast<std::size_t>(wanted.max_body.bytes);
  options.http.request_timeout = milliseconds(wanted.request_timeout);
  options.http.idle_timeout = milliseconds(wanted.idle_timeout);
  options.reads_in_flight = static_cast<std::size_t>(wanted.max_reads_in_flight);
  options.writes_in_flight = static_cast<std::size_t>(wanted.max_writes_in_flight);
  return options;
}

namespace {

actors::node_timing timing_of(const config::kubelet_config& from) {
  return {.lease_duration = from.lease_duration,
          .lease_renewal = from.lease_renew,
          .report_period = from.status_period};
}

bool takes_images(const config::kubelet_config& from, const std::string& socket) {
  if (from.runtime != config::pod_runtime::automatic)
    return from.runtime == config::pod_runtime::cri;
  const auto choice =
      choose_runtime(find_pods(from.root_dir), actors::ask_runtime_version(socket), socket);
  actors::log().info("kubelet: {}", choice.log);
  return choice.images;
}

std::string socket_of(const config::kubelet_config& from) {
  return actors::socket_path(from.cri_endpoint.string()).value_or(std::string{});
}

// An impossible mode is ignored here: make_node_network() refuses it.
network_choice network_of(const config::node_config& config, bool images) {
  return choose_network(config.network, images, actors::node_network::missing_for_services())
      .value_or(network_choice{});
}

actors::log_limits log_limits_of(const config::kubelet_config& from) {
  return {.file_bytes = static_cast<std::uintmax_t>(from.container_log_max_size.bytes),
          .files = static_cast<int>(from.container_log_max_files)};
}

std::shared_ptr<actors::container_runtime> make_runtime(const config::node_config& config,
                                                        const actors::kubelet_options& kubelet) {
  const auto& from = config.kubelet;
  const auto socket = socket_of(from);
  if (takes_images(from, socket)) {
    actors::cri_runtime_options made{.root_dir = kubelet.root_dir, .socket = socket};
    made.pod_pids_limit = from.pod_pids_limit;
    made.images = {.high_percent = static_cast<int>(from.image_gc_high_threshold),
                   .low_percent = static_cast<int>(from.image_gc_low_threshold),
                   .smallest_age = from.image_minimum_gc_age,
                   .longest_age = from.image_maximum_gc_age};
    made.log = log_limits_of(from);
    if (network_of(config, true).services) {
      made.dns_address = actors::network_defaults::dns_address;
      made.dns_domain = actors::network_defaults::cluster_domain;
    }
    return std::make_shared<actors::cri_runtime>(std::move(made));
  }
  actors::process_runtime_options made{.root_dir = kubelet.root_dir,
                                       .jobs = kubelet.jobs,
                                       .hidden = kubelet.hidden,
                                       .pod_pids_limit = from.pod_pids_limit,
                                       .log = log_limits_of(from)};
  if (network_of(config, false).services)
    made.cluster = {actors::network_defaults::dns_address,
                    actors::network_defaults::cluster_domain};
  return std::make_shared<actors::process_runtime>(std::move(made));
}

}  // namespace

tl::expected<std::string, std::string> second_address(const config::node_config& from,
                                                      const std::string& first,
                                                      const std::vector<std::string>& own) {
  const auto& wanted = from.kubelet.second_address.text;
  if (!wanted.empty()) {
    if (api::ip_family(wanted) == api::ip_family(first))
      return tl::make_unexpected(fmt::format(
          "kubelet.secondAddress: the first address of this node is {}, expected one of the other "
          "family; found {}",
          first, wanted));
    if (std::find(own.begin(), own.end(), wanted) == own.end())
      return tl::make_unexpected(fmt::format(
          "kubelet.secondAddress: no interface of this machine that is up has the address {}",
          wanted));
    return wanted;
  }
  const auto has_v6 = [](const auto& ranges) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [](const auto& range) { return range.find(':') != range.npos; });
  };
  if (!has_v6(from.network.pod_cidrs) && !has_v6(from.network.service_cidrs)) return {};
  return server::second_address(first);
}

tl::expected<void, std::string> check_sysctls(const config::kubelet_config& from) {
  for (const auto& each : from.allowed_unsafe_sysctls)
    if (const auto problem = actors::unsafe_sysctl_problem(each); !problem.empty())
      return tl::make_unexpected("kubelet.allowedUnsafeSysctls: " + problem);
  return {};
}

tl::expected<std::optional<node_folder>, std::string> lock_root_dir(
    const config::kubelet_config& from) {
  if (from.runtime == config::pod_runtime::simulated) return std::nullopt;
  auto taken = node_folder::lock_root_dir(from.root_dir);
  if (!taken) return tl::make_unexpected(taken.error());
  if (auto made = actors::make_root(from.root_dir); !made) return tl::make_unexpected(made.error());
  if (auto may = check_runtime(from.runtime, find_pods(from.root_dir), from.root_dir); !may)
    return tl::make_unexpected(may.error());
  return std::move(*taken);
}

actors::kubelet_options make_kubelet_options(const config::node_config& config, std::string node) {
  const auto& from = config.kubelet;
  actors::kubelet_options made;
  made.node = std::move(node);
  made.root_dir = std::filesystem::absolute(from.root_dir);
  made.hidden = {std::filesystem::absolute(config.data_dir).string(), made.root_dir.string()};
  made.max_pods = static_cast<int>(from.max_pods);
  made.jobs = actors::make_kubelet_jobs();
  made.containers = make_runtime(config, made);
  made.has_service_rules = network_of(config, runs_images(made)).services;
  made.version = server::kubernetes_version();
  made.evictions = actors::eviction_thresholds{.memory_bytes = from.eviction_memory.bytes,
                                               .disk_percent = from.eviction_disk,
                                               .image_disk_percent = from.eviction_image_disk,
                                               .pids_percent = from.eviction_pids,
                                               .soft_memory_bytes = from.eviction_soft_memory.bytes,
                                               .soft_disk_percent = from.eviction_soft_disk,
                                               .soft_grace = from.eviction_soft_grace_period,
                                               .longest_grace = from.eviction_max_pod_grace_period};
  // kubernetes: the memory below the eviction threshold is not allocatable.
  made.reserved = {
      .milli_cpu = from.kube_reserved_cpu + from.system_reserved_cpu,
      .memory_bytes = from.kube_reserved_memory.bytes + from.system_reserved_memory.bytes,
      .eviction_memory_bytes = from.eviction_memory.bytes,
      .eviction_disk_percent = from.eviction_disk};
  made.unsafe_sysctls = from.allowed_unsafe_sysctls;
  made.shutdown = {.all = from.shutdown_grace_period,
                   .critical = from.shutdown_grace_period_critical_pods};
  made.timing = timing_of(from);
  return made;
}

bool runs_images(const actors::kubelet_options& of) {
  return of.containers->features().own_network;
}

actors::simulated_node make_simulated_node(const config::kubelet_config& from) {
  actors::simulated_node made;
  made.pods = from.max_pods;
  made.version = server::kubernetes_version();
  made.timing = timing_of(from);
  return made;
}

tl::expected<actors::simulated::policy_ptr, std::string> make_simulation_policy(
    const config::kubelet_config& from) {
  if (from.simulation_policy.empty()) return nullptr;
  const auto text = server::read_file(from.simulation_policy);
  if (!text) return tl::make_unexpected(text.error());
  auto made = actors::simulated::policy::parse(*text);
  if (!made)
    return tl::make_unexpected(fmt::format("{} is not a SimulationPolicy:\n  {}",
                                           from.simulation_policy.string(),
                                           fmt::join(made.error(), "\n  ")));
  return std::move(*made);
}

bool enforces_policies(const config::node_config& from, bool images) {
  return guards_all_pods(network_of(from, images), images);
}

actors::pod_security::configuration make_pod_security(const config::pod_security_config& from) {
  const auto level = [](config::pod_security_level wanted) {
    return actors::pod_security::level_version{static_cast<actors::pod_security::level>(wanted),
                                               {}};
  };
  return {.defaults = {.enforce = level(from.enforce),
                       .audit = level(from.audit),
                       .warn = level(from.warn)},
          .exempt_namespaces = from.exempt_namespaces,
          .exempt_users = from.exempt_users,
          .exempt_runtime_classes = from.exempt_runtime_classes};
}

namespace {

actors::routing::machine_network_options pods_of(const config::node_config& config) {
  namespace routing = actors::routing;
  const auto markers = network_markers(config.data_dir);
  const auto routes = config.network.routes;
  routing::machine_network_options made;
  made.routes = routes == config::network_routes::direct  ? routing::route_mode::direct
                : routes == config::network_routes::vxlan ? routing::route_mode::tunnel
                                                          : routing::route_mode::automatic;
  made.addresses = markers.addresses;
  made.marker = markers.pods;
  made.cni_folder =
      [socket = socket_of(config.kubelet)]() -> tl::expected<std::filesystem::path, std::string> {
    const auto told = actors::ask_cni_folder(socket);
    if (!told) return tl::make_unexpected("the container runtime is down: " + told.error());
    return told->empty() ? actors::network_defaults::cni_folder : *told;
  };
  return made;
}

}  // namespace

tl::expected<std::unique_ptr<actors::node_network>, std::string> make_node_network(
    const config::node_config& config, const std::string& node, bool images,
    std::uint16_t loopback_api_port) {
  const auto& from = config.network;
  const auto choice = choose_network(from, images, actors::node_network::missing_for_services());
  if (!choice) return tl::make_unexpected(choice.error());
  if (!choice->log.empty()) spdlog::info("network: {}", choice->log);
  if (!choice->services && from.dns_listen.empty()) return nullptr;
  actors::node_network_options made;
  made.node = node;
  made.marker = network_markers(config.data_dir).services;
  made.services = choice->services;
  auto services_v6 = ipv6_services(from);
  if (!services_v6) return tl::make_unexpected(services_v6.error());
  made.services_v6 = std::move(*services_v6);
  made.loopback_api_port = loopback_api_port;
  made.dns_host = from.dns_listen.host;
  made.dns_port = from.dns_listen.port;
  if (choice->pods) {
    if (auto ranges = make_pod_ranges(config); !ranges) return tl::make_unexpected(ranges.error());
    for (const auto& text : from.pod_cidrs)
      made.pod_ranges.push_back(*api::cidr::parse(text));
    made.pods = pods_of(config);
    made.pods->cluster = made.pod_ranges;
  }
  return actors::node_network::start(std::move(made));
}

tl::expected<std::vector<actors::pod_ranges>, std::string> make_pod_ranges(
    const config::node_config& config) {
  const auto& from = config.network;
  std::vector<actors::pod_ranges> out;
  std::set<std::string_view> families;
  for (const auto& text : from.pod_cidrs) {
    const bool v6 = text.find(':') != text.npos;
    auto made = actors::pod_ranges::make({text, v6 ? actors::network_defaults::node_bits_v6
                                                   : static_cast<int>(from.node_cidr_mask_size)});
    if (!made) return tl::make_unexpected("network.podCidrs: " + made.error());
    if (!families.insert(v6 ? "IPv6" : "IPv4").second)
      return tl::make_unexpected("network.podCidrs: at most one range of each family, not " + text);
    out.push_back(std::move(*made));
  }
  return out;
}

tl::expected<std::string, std::string> ipv6_services(const config::network_config& from) {
  const std::string v4 = actors::defaults::service_network;
  const auto failed = [](const std::string& problem) {
    return tl::make_unexpected("network.serviceCidrs: " + problem);
  };
  if (std::count(from.service_cidrs.begin(), from.service_cidrs.end(), v4) != 1)
    return failed("must contain " + v4 + ": the IPv4 range cannot be changed");
  std::string v6;
  for (const auto& text : from.service_cidrs) {
    if (text == v4) continue;
    if (!v6.empty()) return failed("at most one range of each family, not " + text);
    v6 = text;
    if (const auto made = actors::service_addresses::in(v4, v6); !made) return failed(made.error());
  }
  return v6;
}

config::address link_address(const config::node_config& from) {
  if (!from.link.listen.empty()) return from.link.listen;
  const auto& api = from.server.listen;
  const bool any_port = api.port == 0 || api.port == 65'535;
  return {api.host, static_cast<std::uint16_t>(any_port ? 0 : api.port + 1)};
}

tl::expected<std::vector<std::int32_t>, std::string> reserved_ports(
    const config::node_config& from) {
  std::vector<std::int32_t> ports;
  for (const auto& text : from.network.reserved_ports) {
    const auto port = config::parse_count(text);
    if (!port || *port < 1 || *port > 65'535)
      return tl::make_unexpected("network.reservedPorts: expected ports from 1 to 65535; found " +
                                 text);
    ports.push_back(static_cast<std::int32_t>(*port));
  }
  for (const auto port :
       {from.server.listen.port, from.server.legacy_listen.port, link_address(from).port})
    if (port != 0) ports.push_back(port);
  if (from.store.store != config::store_kind::etcd) return ports;
  for (const auto& member : from.etcd.endpoints)
    if (const auto port = config::parse_count(member.substr(member.rfind(':') + 1)))
      ports.push_back(static_cast<std::int32_t>(*port));
  return ports;
}

actors::network_markers network_markers(const std::filesystem::path& data_dir) {
  const auto folder = std::filesystem::absolute(data_dir);
  return {folder / "service-rules", folder / "pod-network", folder / "pod-addresses"};
}

}  // namespace troupe::tools
