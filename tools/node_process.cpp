#include "tools/node_process.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>

#include <cstdio>
#include <cstring>

#include "tools/company_options.hpp"
#include "tools/join/credentials.hpp"
#include "tools/node_folder.hpp"
#include "tools/node_surroundings.hpp"
#include "tools/process_limits.hpp"

namespace troupe::tools {

namespace {

bool has_joined(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(join_folder{folder}.path(), ignored);
}

void say_ready(const std::string& address, const std::filesystem::path& data_dir) {
  fmt::print("ready https://{} KUBECONFIG={}\n", address, (data_dir / "admin.kubeconfig").string());
  std::fflush(stdout);
  ::sd_notify(0, "READY=1\nSTATUS=serving");
}

}  // namespace

tl::expected<void, std::string> run_node(const config::node_config& config, const composer& compose,
                                         std::chrono::milliseconds stop_limit) {
  if (auto enough = check_process_limits(
          needs_of_node(static_cast<std::size_t>(config.runtime.worker_threads)));
      !enough)
    return enough;
  node_surroundings around{config.log, stop_limit};
  if (has_joined(config.data_dir))
    return tl::make_unexpected(fmt::format(
        "data dir {}: has joined a cluster; run troupe join --data-dir {} there, or name another "
        "with --data-dir",
        config.data_dir.string(), config.data_dir.string()));
  const auto folder = node_folder::take_data(config.data_dir);
  if (!folder) return tl::make_unexpected(folder.error());
  const auto root = take_root(config.kubelet);
  if (!root) return tl::make_unexpected(root.error());
  const auto parts = compose(config);
  const auto address = parts->start();
  if (!address) return tl::make_unexpected(address.error());
  say_ready(*address, config.data_dir);
  const int signal = around.signals.wait();
  ::sd_notify(0, "STOPPING=1\nSTATUS=stopping");
  spdlog::info("stopping: {}", ::strsignal(signal));
  parts->stop();
  return {};
}

}  // namespace troupe::tools
