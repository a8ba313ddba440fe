#include "actors/kubelet/runtimes/process/exec_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/os/child_process.hpp"
#include "actors/kubelet/runtimes/process/container_exec.hpp"

namespace troupe::actors {

namespace {

struct both_ends {
  runtime::unique_fd ours, theirs;
};

tl::unexpected<std::string> failed(const char* action) {
  return tl::make_unexpected(fmt::format("cannot {}: {}", action, std::strerror(errno)));
}

tl::expected<both_ends, std::string> make_pipe(bool we_read) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return failed("make a pipe");
  both_ends ends{runtime::unique_fd{fds[we_read ? 0 : 1]},
                 runtime::unique_fd{fds[we_read ? 1 : 0]}};
  ::fcntl(ends.ours.get(), F_SETFL, O_NONBLOCK);
  return ends;
}

tl::expected<both_ends, std::string> make_terminal() {
  runtime::unique_fd ours{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)};
  char name[64];
  if (!ours || ::grantpt(ours.get()) != 0 || ::unlockpt(ours.get()) != 0 ||
      ::ptsname_r(ours.get(), name, sizeof name) != 0)
    return failed("make a terminal");
  runtime::unique_fd theirs{::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)};
  if (!theirs) return failed("open a terminal");
  return both_ends{std::move(ours), std::move(theirs)};
}

}  // namespace

exec_process::exec_process(exec_process&& other) noexcept
    : input_{std::move(other.input_)},
      output_{std::move(other.output_)},
      error_{std::move(other.error_)},
      process_{std::move(other.process_)},
      pid_{std::exchange(other.pid_, 0)},
      tty_{other.tty_} {}

tl::expected<exec_process, std::string> exec_process::start(const std::string& program,
                                                            const container_dir& dir,
                                                            const exec_request& request) {
  exec_process stream;
  stream.tty_ = request.tty;
  both_ends in, out, err;
  const auto take = [](auto made, both_ends& into, std::string& problem) {
    if (made)
      into = std::move(*made);
    else
      problem = made.error();
  };
  std::string problem;
  if (request.tty) {
    take(make_terminal(), out, problem);
  } else {
    take(make_pipe(true), out, problem);
    take(make_pipe(true), err, problem);
    if (request.input) take(make_pipe(false), in, problem);
  }
  if (!problem.empty()) return tl::make_unexpected(problem);
  if (!request.tty && !request.input)
    in.theirs = runtime::unique_fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  std::vector<std::string> arguments{program, container_exec_command, dir.path().string()};
  arguments.insert(arguments.end(), request.command.begin(), request.command.end());
  const int terminal = out.theirs.get();
  const auto child = spawn_program(arguments, {{request.tty ? terminal : in.theirs.get(), 0},
                                               {terminal, 1},
                                               {request.tty ? terminal : err.theirs.get(), 2}});
  if (!child) return tl::make_unexpected(child.error());
  stream.pid_ = *child;
  stream.process_ = runtime::unique_fd{static_cast<int>(::syscall(SYS_pidfd_open, *child, 0))};
  if (!stream.process_) return failed("see the end of the command");
  // A second descriptor, because the loop waits for each direction separately.
  stream.input_ = request.tty ? runtime::unique_fd{::fcntl(out.ours.get(), F_DUPFD_CLOEXEC, 0)}
                              : std::move(in.ours);
  stream.output_ = std::move(out.ours);
  stream.error_ = std::move(err.ours);
  return stream;
}

exec_process::~exec_process() {
  if (pid_ == 0) return;
  signal(SIGTERM);
  pollfd ended{process_.get(), POLLIN, 0};
  constexpr auto patience =
      std::chrono::duration_cast<std::chrono::milliseconds>(kubelet_defaults::kill_again);
  if (::poll(&ended, 1, static_cast<int>(patience.count())) <= 0) signal(SIGKILL);
  wait();
}

void exec_process::signal(int number) const {
  if (pid_ != 0) ::kill(pid_, number);
}

void exec_process::close_input() {
  constexpr char end_of_file = 4;
  if (tty_)
    static_cast<void>(!::write(output_.get(), &end_of_file, 1));
  else
    input_.reset();
}

bool exec_process::resize(int rows, int columns) {
  winsize size{};
  size.ws_row = static_cast<unsigned short>(rows);
  size.ws_col = static_cast<unsigned short>(columns);
  return tty_ && ::ioctl(output_.get(), TIOCSWINSZ, &size) == 0;
}

int exec_process::wait() {
  if (pid_ == 0) return 0;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace troupe::actors
