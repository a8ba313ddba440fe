#include "tools/join/join_process.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>

#include "actors/tokens/bootstrap_token.hpp"
#include "server/credentials/x509.hpp"
#include "tools/defaults.hpp"
#include "tools/join/credential_manager.hpp"
#include "tools/node/machine_shutdown.hpp"
#include "tools/node/node_folder.hpp"
#include "tools/node/node_options.hpp"
#include "tools/node/process_limits.hpp"
#include "tools/node/process_setup.hpp"

namespace troupe::tools {

namespace {

using credentials_result = tl::expected<joined_credentials, std::string>;

tl::unexpected<std::string> folder_error(const std::filesystem::path& folder,
                                         const std::string& reason) {
  return tl::make_unexpected(
      fmt::format("data dir {}: {}; name another with --data-dir", folder.string(), reason));
}

bool is_control_plane(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "store", ignored) ||
         std::filesystem::exists(folder / "pki", ignored);
}

bool expired(const std::string& certificate) {
  const auto valid = server::x509::read_validity(certificate);
  return !valid || valid->until <= std::chrono::system_clock::now();
}

// The stored credentials, if they match the request.
credentials_result reuse_credentials(joined_credentials held, const config::node_config& config,
                                     const join_options& options, const join_folder& folder) {
  const auto& line = options.line;
  const auto hash = server::x509::key_hash(held.authority);
  if (!line.authority_hash.empty() && hash != line.authority_hash)
    return folder_error(config.data_dir, "has joined another cluster, " + held.cluster_id +
                                             " (troupe leave removes it)");
  if (options.is_named && config.kubelet.node_name != held.node_name)
    return folder_error(config.data_dir,
                        "has joined as " + held.node_name + ", not as " + config.kubelet.node_name);
  const bool good = !expired(held.certificate);
  // The token of the last start is no request to join again, but a new token is: the node may have
  // been removed.
  const auto token = actors::split_token(line.token);
  if (token && (!good || token->id != held.token_id)) {
    auto again = enrol(line, held.node_name, folder);
    if (again || !good) return again;
    spdlog::warn("cannot join again, continuing as before: {}", again.error());
  }
  if (good) return held;
  return tl::make_unexpected(
      fmt::format("the certificate of node {} has expired: join again with the line that `troupe "
                  "token create` prints on the control plane",
                  held.node_name));
}

credentials_result credentials_for(const config::node_config& config, const join_options& options) {
  const join_folder folder{config.data_dir};
  auto held = folder.load();
  if (!held) return tl::make_unexpected(held.error());
  if (*held) return reuse_credentials(std::move(**held), config, options, folder);
  if (options.line.address.empty())
    return tl::make_unexpected(
        fmt::format("data dir {}: has joined no cluster yet; give the line that `troupe token "
                    "create` prints on the control plane",
                    config.data_dir.string()));
  if (const auto good = check_join_line(options.line); !good)
    return tl::make_unexpected(good.error());
  return enrol(options.line, config.kubelet.node_name, folder);
}

// The state of the link, reported by its threads.
class link_status {
 public:
  explicit link_status(stop_signals& signals) : signals_{signals} {}

  void linked(const joined_credentials& as) {
    spdlog::info("the link to {} is up", as.link_address);
    if (said_.exchange(true)) return;
    fmt::print("joined {} as {}\n", as.cluster_id, as.node_name);
    std::fflush(stdout);
    ::sd_notifyf(0, "READY=1\nSTATUS=joined %s as %s", as.cluster_id.c_str(), as.node_name.c_str());
  }
  void unlinked(const std::string& reason) { spdlog::warn("no link: {}; trying again", reason); }
  void node_removed(const std::string& reason) {
    {
      const std::lock_guard lock{mutex_};
      if (!expelled_) expelled_ = reason;
    }
    signals_.end();
  }
  std::optional<std::string> end() const {
    const std::lock_guard lock{mutex_};
    return expelled_;
  }

 private:
  stop_signals& signals_;
  std::atomic<bool> said_{false};
  mutable std::mutex mutex_;
  std::optional<std::string> expelled_;
};

}  // namespace

tl::expected<void, std::string> run_joined(config::node_config config, const join_options& options,
                                           const joined_composer& compose) {
  if (auto sysctls = check_sysctls(config.kubelet); !sysctls) return sysctls;
  if (auto enough = check_process_limits(
          needs_of_node(static_cast<std::size_t>(config.runtime.worker_threads)));
      !enough)
    return enough;
  process_setup setup{config.log, defaults::stop_limit + shutdown_limit(config.kubelet)};
  if (is_control_plane(config.data_dir))
    return folder_error(config.data_dir, "belongs to a control plane");
  const auto folder = node_folder::lock_data_dir(config.data_dir);
  if (!folder) return tl::make_unexpected(folder.error());
  const auto root = lock_root_dir(config.kubelet);
  if (!root) return tl::make_unexpected(root.error());
  const auto held = credentials_for(config, options);
  if (!held) return tl::make_unexpected(held.error());
  config.kubelet.node_name = held->node_name;
  if (*root)
    if (auto saved = join_folder{config.data_dir}.save_root(config.kubelet.root_dir); !saved)
      return saved;
  // A returning machine is ready with its pods, whether the control plane is reachable or not.
  if (options.line.address.empty()) ::sd_notify(0, "READY=1\nSTATUS=looking for the control plane");
  link_status status{setup.signals};
  credential_manager manager{join_folder{config.data_dir}, *held};
  const auto parts = compose(
      config,
      {.credentials = [&manager] { return manager.now(); },
       .linked = [&status, as = *held] { status.linked(as); },
       .unlinked = [&status](const std::string& reason) { status.unlinked(reason); },
       .node_removed = [&status](const std::string& reason) { status.node_removed(reason); },
       .learned = [&manager](const std::string& all) { manager.learn(all); }});
  if (const auto started = parts->start(); !started) return tl::make_unexpected(started.error());
  const int signal = setup.signals.wait();
  ::sd_notify(0, "STOPPING=1\nSTATUS=stopping");
  const auto reason = status.end();
  spdlog::info("stopping: {}", reason ? *reason : ::strsignal(signal));
  if (!reason) shut_down_with_machine(config.kubelet, *parts);
  parts->stop();
  if (reason) return tl::make_unexpected(*reason);
  return {};
}

}  // namespace troupe::tools
