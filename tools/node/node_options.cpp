#include "tools/node/node_options.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <random>
#include <utility>

#include "actors/core/log.hpp"
#include "actors/kubelet/runtimes/cri/cri_runtime.hpp"
#include "actors/kubelet/runtimes/process/process_runtime.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"
#include "server/http/version.hpp"
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

namespace {

actors::node_timing timing_of(const config::kubelet_config& from) {
  return {.lease_duration = from.lease_duration,
          .lease_renewal = from.lease_renew,
          .report_period = from.status_period};
}

bool runs_images(const config::kubelet_config& from, const std::string& socket) {
  if (from.runtime != config::pod_runtime::automatic)
    return from.runtime == config::pod_runtime::cri;
  const auto choice =
      choose_runtime(find_pods(from.root_dir), actors::ask_runtime_version(socket), socket);
  actors::log().info("kubelet: {}", choice.log);
  return choice.images;
}

std::shared_ptr<actors::container_runtime> make_runtime(const config::kubelet_config& from,
                                                        const actors::kubelet_options& kubelet) {
  const auto socket = actors::socket_path(from.cri_endpoint.string()).value_or(std::string{});
  if (runs_images(from, socket))
    return std::make_shared<actors::cri_runtime>(
        actors::cri_runtime_options{.root_dir = kubelet.root_dir, .socket = socket});
  return std::make_shared<actors::process_runtime>(
      actors::process_runtime_options{.root_dir = kubelet.root_dir,
                                      .jobs = kubelet.jobs,
                                      .hidden = kubelet.hidden,
                                      .pod_pids_limit = from.pod_pids_limit});
}

}  // namespace

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
  made.containers = make_runtime(from, made);
  made.version = server::kubernetes_version();
  made.evictions = actors::eviction_thresholds{.memory_bytes = from.eviction_memory.bytes,
                                               .disk_percent = from.eviction_disk};
  // kubernetes: what is left before pods are evicted is nobody's to ask for.
  made.reserved = {.milli_cpu = from.kube_reserved_cpu + from.system_reserved_cpu,
                   .memory_bytes = from.kube_reserved_memory.bytes +
                                   from.system_reserved_memory.bytes + from.eviction_memory.bytes};
  made.timing = timing_of(from);
  return made;
}

actors::simulated_node make_simulated_node(const config::kubelet_config& from) {
  actors::simulated_node made;
  made.pods = from.max_pods;
  made.version = server::kubernetes_version();
  made.timing = timing_of(from);
  return made;
}

tl::expected<std::unique_ptr<actors::node_network>, std::string> make_node_network(
    const config::node_config& config, const std::string& node) {
  const auto& from = config.network;
  actors::node_network_options made;
  made.node = node;
  made.marker = network_marker(config.data_dir);
  made.services = from.mode == config::network_mode::services;
  if (from.mode == config::network_mode::automatic) {
    const auto missing = actors::node_network::missing_for_services();
    made.services = missing.empty();
    if (!missing.empty()) spdlog::info("network: services have no rules here: {}", missing);
  }
  made.dns_host = from.dns_listen.host;
  made.dns_port = from.dns_listen.port;
  if (!made.services && from.dns_listen.empty()) return nullptr;
  return actors::node_network::start(std::move(made));
}

std::filesystem::path network_marker(const std::filesystem::path& data_dir) {
  return data_dir / "service-rules";
}

}  // namespace troupe::tools
