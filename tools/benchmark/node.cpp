#include "benchmark/node.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <thread>

extern char** environ;

namespace troupe::bench {

node::node(const std::string& program, const std::string& folder, int simulated_nodes,
           const std::vector<std::string>& more_flags)
    : data_{folder + "/node"}, simulated_nodes_{simulated_nodes} {
  int out[2];
  if (::pipe2(out, O_CLOEXEC) != 0) die("no pipe");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, out[1], 1);
  const auto log = folder + "/node.log";
  posix_spawn_file_actions_addopen(&files, 2, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const auto count = std::to_string(simulated_nodes);
  std::vector<const char*> arguments{
      program.c_str(), "node",      "--data-dir", data_.c_str(),       "--listen",
      "127.0.0.1:0",   "--runtime", "simulated",  "--simulated-nodes", count.c_str()};
  for (const auto& each : more_flags)
    arguments.push_back(each.c_str());
  arguments.push_back(nullptr);
  started_ = clock::now();
  const int failed = ::posix_spawn(&pid_, program.c_str(), &files, nullptr,
                                   const_cast<char**>(arguments.data()), environ);
  posix_spawn_file_actions_destroy(&files);
  ::close(out[1]);
  if (failed != 0) die("cannot start " + program);
  std::string line(256, '\0');
  const auto size = ::read(out[0], line.data(), line.size());
  ready_ms_ = seconds_since(started_) * 1e3;
  ::close(out[0]);
  if (size <= 0) die("the node did not start: " + read_file(log));
  line.resize(static_cast<std::size_t>(size));
  const auto colon = line.find(':', line.find("//"));
  port_ = static_cast<std::uint16_t>(std::atoi(line.c_str() + colon + 1));
}

node::~node() {
  end(SIGTERM);
}

void node::kill() {
  end(SIGKILL);
}

void node::end(int signal) {
  if (pid_ == 0) return;
  ::kill(pid_, signal);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

double node::memory_mb() const {
  return bench::memory_mb(pid_);
}

double node::processor_s() const {
  clockid_t of_process{};
  timespec used{};
  if (::clock_getcpuclockid(pid_, &of_process) != 0 || ::clock_gettime(of_process, &used) != 0)
    die("the node's processor time cannot be read");
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

void node::wait_for_nodes() const {
  auto from = client();
  for (const auto start = clock::now(); seconds_since(start) < 60;) {
    const auto body = from.get("/api/v1/nodes?limit=1").body;
    const auto rest = body.find("\"remainingItemCount\":");
    const int found = rest == body.npos ? body.find("\"spec\"") != body.npos
                                        : 1 + std::atoi(body.c_str() + rest + 21);
    if (found >= simulated_nodes_) return;
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  die("the simulated nodes did not register");
}

test::wire_options node::address() const {
  test::wire_options options;
  options.port = port_;
  options.certificate = read_file(data_ + "/pki/admin.crt");
  options.private_key = read_file(data_ + "/pki/admin.key");
  options.timeout = std::chrono::seconds{60};
  return options;
}

load_options node::load() const {
  const auto to = address();
  load_options options;
  options.port = to.port;
  options.certificate = to.certificate;
  options.private_key = to.private_key;
  options.duration = std::chrono::seconds{3};
  return options;
}

load_result must_run(const load_options& options) {
  auto result = run_load(options);
  if (!result) die(result.error());
  if (result->refused > result->answers / 100)
    die(fmt::format("{} of {} requests were refused", result->refused, result->answers));
  return std::move(*result);
}

}  // namespace troupe::bench
