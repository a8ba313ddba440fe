#include "tools/etcd/etcd_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include "actors/kubelet/os/child_process.hpp"
#include "runtime/unique_fd.hpp"
#include "tools/etcd/defaults.hpp"

namespace troupe::tools {

namespace {

// Without ETCD_…: etcd reads flags from variables as well.
std::vector<std::string> environment() {
  std::vector<std::string> words;
  for (char** each = environ; *each != nullptr; ++each)
    if (!std::string_view{*each}.starts_with("ETCD_")) words.emplace_back(*each);
  return words;
}

// Runs between fork and exec: must not wait for a lock of another thread.
[[noreturn]] void become(const std::vector<char*>& arguments, const std::vector<char*>& variables,
                         pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);  // the parent has ended meanwhile
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::setpgid(0, 0);  // we pass Ctrl-C on ourselves
  ::execve(arguments.front(), arguments.data(), variables.data());
  ::_exit(127);
}

}  // namespace

std::string missing_program(const std::string& binary) {
  if (::access(binary.c_str(), X_OK) == 0) return {};
  if (errno == ENOENT)
    return fmt::format(
        "there is no {}: install the package {}, or name the program (--etcd-binary)", binary,
        etcd_defaults::package);
  return fmt::format("{} cannot be run: {}", binary, std::generic_category().message(errno));
}

tl::expected<std::unique_ptr<etcd_process>, std::string> etcd_process::start(
    const std::vector<std::string>& command) {
  if (auto missing = missing_program(command.front()); !missing.empty())
    return tl::make_unexpected(std::move(missing));
  const auto variables = environment();
  const auto arguments = actors::pointers(command), environ_of_child = actors::pointers(variables);
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id < 0)
    return tl::make_unexpected("etcd cannot be started: " + std::generic_category().message(errno));
  if (id == 0) become(arguments, environ_of_child, parent);
  return std::unique_ptr<etcd_process>{new etcd_process{id}};
}

etcd_process::~etcd_process() {
  end(etcd_defaults::end_limit);
}

std::optional<std::string> etcd_process::ended() {
  if (ended_) return ended_;
  int status = 0;
  if (::waitpid(id_, &status, WNOHANG) != id_) return std::nullopt;
  ended_ = WIFSIGNALED(status) ? fmt::format("by signal {}", WTERMSIG(status))
                               : fmt::format("with code {}", WEXITSTATUS(status));
  return ended_;
}

void etcd_process::end(std::chrono::milliseconds limit) {
  if (ended()) return;
  ::kill(id_, SIGTERM);
  ::kill(id_, SIGCONT);
  const runtime::unique_fd running{static_cast<int>(::syscall(SYS_pidfd_open, id_, 0))};
  pollfd end_of{running.get(), POLLIN, 0};
  ::poll(&end_of, 1, static_cast<int>(limit.count()));
  if (ended()) return;
  ::kill(id_, SIGKILL);
  int status = 0;
  ::waitpid(id_, &status, 0);
  ended_ = "by signal 9";
}

}  // namespace troupe::tools
