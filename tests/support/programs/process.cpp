#include "support/programs/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <string_view>

#include "support/programs/node_settings.hpp"

namespace troupe::test {
namespace {

constexpr std::chrono::milliseconds end_limit{60'000};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (auto& word : words)
    out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// Our environment; of the variables that configure a node, only those of node_settings.hpp.
std::vector<std::string> plain_environment() {
  std::vector<std::string> out;
  for (char** each = environ; *each != nullptr; ++each)
    if (!std::string_view{*each}.starts_with("TROUPE_")) out.emplace_back(*each);
  out.push_back(std::string{eviction_disk.name} + "=" + eviction_disk.value);
  return out;
}

}  // namespace

process::process(std::vector<std::string> command, const std::filesystem::path& log) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error{"no pipe"};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
  const auto arguments = pointers(command);
  auto variables = plain_environment();
  const int problem = ::posix_spawnp(&id_, arguments[0], &actions, nullptr, arguments.data(),
                                     pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  output_ = ends[0];
  if (problem == 0) return;
  ::close(output_);
  throw std::runtime_error{command[0] + ": " + std::strerror(problem)};
}

process::~process() {
  if (!ended_) {
    signal(SIGTERM);
    signal(SIGCONT);  // if it was stopped
    if (!wait(end_limit)) {
      signal(SIGKILL);
      wait(end_limit);
    }
  }
  ::close(output_);
}

void process::signal(int number) const {
  if (!ended_) ::kill(id_, number);
}

std::optional<int> process::wait(std::chrono::milliseconds limit) {
  if (ended_) return ended_;
  // Readable when the process has ended.
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, id_, 0));
  pollfd waiting{handle, POLLIN, 0};
  const bool over = ::poll(&waiting, 1, static_cast<int>(limit.count())) == 1;
  ::close(handle);
  if (!over) return std::nullopt;
  int status = 0;
  ::waitpid(id_, &status, 0);
  return ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string process::read_line(std::chrono::milliseconds pause_limit) const {
  std::string out;
  const auto limit = static_cast<int>(pause_limit.count());
  for (pollfd waiting{output_, POLLIN, 0}; ::poll(&waiting, 1, limit) == 1;) {
    char c = 0;
    if (::read(output_, &c, 1) != 1 || c == '\n') break;
    out += c;
  }
  return out;
}

std::string last_part(const std::string& text) {
  constexpr std::size_t most = 1'000;
  return text.size() > most ? text.substr(text.size() - most) : text;
}

}  // namespace troupe::test
