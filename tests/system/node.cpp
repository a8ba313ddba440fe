#include "system/node.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace troupe::test {
namespace {

constexpr int ready_limit_ms = 30'000;
constexpr std::chrono::milliseconds end_limit{10'000};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (auto& word : words)
    out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// Ours, without what would configure a node.
std::vector<std::string> plain_environment() {
  std::vector<std::string> out;
  for (char** each = environ; *each != nullptr; ++each)
    if (!std::string_view{*each}.starts_with("TROUPE_")) out.emplace_back(*each);
  return out;
}

std::string last_part(const std::string& text) {
  constexpr std::size_t most = 1'000;
  return text.size() > most ? text.substr(text.size() - most) : text;
}

}  // namespace

node::node(const std::filesystem::path& folder, const std::vector<std::string>& flags,
           const std::vector<std::string>& wrapper)
    : folder_{folder} {
  auto command = wrapper;
  command.insert(command.end(), {TROUPE_BINARY_DIR "/troupe", "node", "--data-dir", folder});
  if (std::find(flags.begin(), flags.end(), "--listen") == flags.end())
    command.insert(command.end(), {"--listen", "127.0.0.1:0"});
  command.insert(command.end(), flags.begin(), flags.end());

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error{"no pipe"};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const auto log = folder.string() + ".log";
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
  const auto arguments = pointers(command);
  auto variables = plain_environment();
  const int problem = ::posix_spawnp(&id_, arguments[0], &actions, nullptr, arguments.data(),
                                     pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  const auto line = problem == 0 ? read_line(ends[0]) : std::string{};
  ::close(ends[0]);
  const auto at = line.find("KUBECONFIG=");
  if (!line.starts_with("ready ") || at == std::string::npos) {
    if (problem == 0) signal(SIGKILL), wait(end_limit);
    throw std::runtime_error{"the node is not ready: " + line + last_part(read_file(log))};
  }
  kubeconfig_ = line.substr(at + 11);
  port_ = static_cast<std::uint16_t>(std::stoul(line.substr(line.rfind(':', at) + 1)));
}

node::~node() {
  if (id_ <= 0) return;
  signal(SIGTERM);
  if (wait(end_limit)) return;
  signal(SIGKILL);
  wait(end_limit);
}

wire_options node::where() const {
  wire_options out;
  out.port = port_;
  out.authority = read_file(folder_ / "pki/ca.crt");
  out.certificate = read_file(folder_ / "pki/admin.crt");
  out.private_key = read_file(folder_ / "pki/admin.key");
  return out;
}

void node::signal(int number) const {
  ::kill(id_, number);
}

std::optional<int> node::wait(std::chrono::milliseconds limit) {
  // Readable when the process has ended.
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, id_, 0));
  pollfd waiting{handle, POLLIN, 0};
  const bool over = ::poll(&waiting, 1, static_cast<int>(limit.count())) == 1;
  ::close(handle);
  if (!over) return std::nullopt;
  int status = 0;
  ::waitpid(id_, &status, 0);
  id_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string node::read_line(int from) {
  std::string out;
  for (pollfd waiting{from, POLLIN, 0}; ::poll(&waiting, 1, ready_limit_ms) == 1;) {
    char c = 0;
    if (::read(from, &c, 1) != 1 || c == '\n') break;
    out += c;
  }
  return out;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in{path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::size_t resident_kb(pid_t id) {
  std::ifstream status{"/proc/" + std::to_string(id) + "/status"};
  std::string word;
  while (status >> word) {
    std::size_t value = 0;
    if (word == "VmRSS:" && status >> value) return value;
  }
  return 0;
}

}  // namespace troupe::test
