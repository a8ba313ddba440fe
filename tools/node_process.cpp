#include "tools/node_process.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

#include <csignal>
#include <cstdio>

#include "tools/data_dir.hpp"
#include "tools/logging.hpp"
#include "tools/stop_signals.hpp"

namespace troupe::tools {

namespace {

// Thousands of connections and watches: as many descriptors as the system lets us have.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// The log for as long as a node runs.
class log_session {
 public:
  explicit log_session(const config::log_config& wanted) { start_logging(wanted); }
  log_session(const log_session&) = delete;
  log_session& operator=(const log_session&) = delete;
  ~log_session() { stop_logging(); }
};

void say_ready(const std::string& address, const std::filesystem::path& data_dir) {
  fmt::print("ready https://{} KUBECONFIG={}\n", address, (data_dir / "admin.kubeconfig").string());
  std::fflush(stdout);
  ::sd_notify(0, "READY=1\nSTATUS=serving");
}

}  // namespace

tl::expected<void, std::string> run_node(const config::node_config& config, const composer& compose,
                                         std::chrono::milliseconds stop_limit) {
  std::signal(SIGPIPE, SIG_IGN);
  stop_signals signals(stop_limit);
  const log_session log(config.log);
  raise_descriptor_limit();
  const auto folder = data_dir::take(config.data_dir);
  if (!folder) return tl::make_unexpected(folder.error());
  const auto parts = compose(config);
  const auto address = parts->start();
  if (!address) return tl::make_unexpected(address.error());
  say_ready(*address, config.data_dir);
  const int signal = signals.wait();
  ::sd_notify(0, "STOPPING=1\nSTATUS=stopping");
  spdlog::info("stopping: {}", ::strsignal(signal));
  parts->stop();
  return {};
}

}  // namespace troupe::tools
