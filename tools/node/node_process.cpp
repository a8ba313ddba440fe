#include "tools/node/node_process.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>

#include <cstdio>
#include <cstring>

#include "tools/node/machine_shutdown.hpp"
#include "tools/node/node_folder.hpp"
#include "tools/node/node_options.hpp"
#include "tools/node/process_limits.hpp"
#include "tools/node/process_setup.hpp"

namespace troupe::tools {

namespace {

bool has_joined(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(join_dir(folder), ignored);
}

// member.json of tools/etcd/member_settings.hpp. With the keys of an etcd as the cluster's
// authority, every certificate of a node would grant access to all of that etcd.
bool belongs_to_etcd(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "member.json", ignored);
}

void report_ready(const std::string& address, const std::filesystem::path& data_dir) {
  fmt::print("ready https://{} KUBECONFIG={}\n", address, (data_dir / "admin.kubeconfig").string());
  std::fflush(stdout);
  ::sd_notify(0, "READY=1\nSTATUS=serving");
}

}  // namespace

tl::expected<void, std::string> run_node(const config::node_config& config, const composer& compose,
                                         std::chrono::milliseconds stop_limit) {
  if (auto sysctls = check_sysctls(config.kubelet); !sysctls) return sysctls;
  if (auto enough = check_process_limits(
          needs_of_node(static_cast<std::size_t>(config.runtime.worker_threads)));
      !enough)
    return enough;
  process_setup setup{config.log, stop_limit + shutdown_limit(config.kubelet)};
  if (has_joined(config.data_dir))
    return tl::make_unexpected(fmt::format(
        "data dir {}: has joined a cluster; run troupe join --data-dir {} there, or name another "
        "with --data-dir",
        config.data_dir.string(), config.data_dir.string()));
  if (belongs_to_etcd(config.data_dir))
    return tl::make_unexpected(
        fmt::format("data dir {}: belongs to a member of an etcd (troupe etcd); name another with "
                    "--data-dir",
                    config.data_dir.string()));
  const auto folder = node_folder::lock_data_dir(config.data_dir);
  if (!folder) return tl::make_unexpected(folder.error());
  const auto root = lock_root_dir(config.kubelet);
  if (!root) return tl::make_unexpected(root.error());
  if (*root)
    if (auto saved = save_root_dir(config.data_dir, config.kubelet.root_dir); !saved) return saved;
  const auto parts = compose(config);
  const auto address = parts->start();
  if (!address) return tl::make_unexpected(address.error());
  report_ready(*address, config.data_dir);
  const int signal = setup.signals.wait();
  ::sd_notify(0, "STOPPING=1\nSTATUS=stopping");
  spdlog::info("stopping: {}", ::strsignal(signal));
  shut_down_with_machine(config.kubelet, *parts);
  parts->stop();
  return {};
}

}  // namespace troupe::tools
