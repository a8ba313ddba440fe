#include "actors/kubelet/runtimes/process/container_shim.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/logs/log_rate_limit.hpp"
#include "actors/kubelet/logs/log_writer.hpp"
#include "actors/kubelet/os/child_process.hpp"
#include "actors/kubelet/runtimes/process/container_dir.hpp"
#include "actors/kubelet/runtimes/process/container_root.hpp"
#include "actors/kubelet/security/process_identity.hpp"

namespace troupe::actors {

namespace {

// Closed when `running` or `exit` has been written: the parent of the shim waits for that.
constexpr int ready_fd = 3;

constexpr int shim_ignores[] = {SIGPIPE, SIGTERM, SIGINT, SIGHUP};

struct pipe_pair {
  int read = -1, write = -1;
};

pipe_pair make_pipe() {
  int fds[2] = {-1, -1};
  if (::pipe2(fds, O_CLOEXEC) != 0) return {};
  return {fds[0], fds[1]};
}

// Tells the shim over the pipe why exec did not happen.
[[noreturn]] void refuse(int report, const std::string& message, int code = 126) {
  static_cast<void>(!::write(report, message.data(), message.size()));
  ::_exit(code);
}

// The same with what was tried, and errno.
[[noreturn]] void give_up(int report, const char* action) {
  const int code = errno;
  refuse(report, fmt::format("{}: {}", action, std::strerror(code)), code == ENOENT ? 127 : 126);
}

// What the steps to a running container share.
struct birth {
  const container_spec& spec;
  const process_identity& identity;
  int out, err, report, result;
};

void require(const tl::expected<void, std::string>& done, int report) {
  if (!done) refuse(report, done.error());
}

[[noreturn]] void run_container(const birth& with) {
  const auto& spec = with.spec;
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // without its shim nobody would hear of its end
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(with.out, STDOUT_FILENO);
  ::dup2(with.err, STDERR_FILENO);
  const auto& dir = spec.working_dir.empty() ? std::string{"/"} : spec.working_dir;
  if (::chdir(dir.c_str()) != 0) give_up(with.report, ("cannot enter " + dir).c_str());
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int s : shim_ignores)
    signal(s, SIG_DFL);
  auto variables = spec.environment;
  add_home(variables, with.identity);
  auto arguments = pointers(spec.command);
  auto environment = pointers(variables);
  require(take_identity(with.identity, *spec.security), with.report);
  ::execvpe(arguments[0], arguments.data(), environment.data());
  give_up(with.report, ("cannot run " + spec.command.front()).c_str());
}

// The init of a PID namespace: the kernel drops signals that an init has no handler for, so the
// container's process is its child instead and dies of SIGTERM as it would anywhere. When it has
// ended, so does the init, and with it all that is left in the namespace. It has the container's
// mounts too: what is to be seen of it in /proc leads nowhere else.
[[noreturn]] void run_init(const birth& with) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 0);  // nobody in there follows /proc/PID/exe to this program
  ::close(ready_fd);
  require(make_container_root(with.spec), with.report);
  const pid_t main = ::fork();
  if (main == 0) run_container(with);
  if (main < 0) give_up(with.report, "cannot fork");
  for (const int fd : {with.out, with.err, with.report})
    ::close(fd);
  int status = 0;
  for (pid_t gone; (gone = ::waitpid(-1, &status, 0)) != main;)
    if (gone < 0 && errno != EINTR) break;
  static_cast<void>(!::write(with.result, &status, sizeof status));
  ::_exit(0);
}

// The init in a user namespace of its own. A process with several threads cannot make one, nor can
// it be the first in a PID namespace that it makes: a child makes both, leaves its own child to the
// shim, which is its subreaper, and tells its number. Below 0: it could not be made.
pid_t fork_mapped_init(const birth& with, const cgroup_tree& groups,
                       const std::string& group_name) {
  const auto number = make_pipe(), handed_over = make_pipe();
  const pid_t maker = ::fork();
  if (maker == 0) {
    ::close(handed_over.write);
    groups.enter(group_name);
    const auto user = ::geteuid();
    const auto group = ::getegid();
    if (::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
      give_up(with.report, "cannot make a user namespace");
    require(map_own_user(user, group), with.report);
    const pid_t init = ::fork();
    if (init == 0) {
      ::close(number.write);
      // Its death signal must not be that of the maker.
      char end = 0;
      static_cast<void>(!::read(handed_over.read, &end, 1));
      run_init(with);
    }
    static_cast<void>(!::write(number.write, &init, sizeof init));
    ::_exit(0);
  }
  ::close(number.write);
  pid_t init = -1;
  if (::read(number.read, &init, sizeof init) != sizeof init) init = -1;
  if (maker > 0) ::waitpid(maker, nullptr, 0);
  for (const int fd : {number.read, handed_over.read, handed_over.write})
    ::close(fd);
  return init;
}

// The process that the shim waits for. Below 0: it could not be made.
pid_t give_birth(const birth& with, const cgroup_tree& groups, const std::string& group) {
  switch (with.spec.security->confined_by) {
    case confinement::namespaces:
      if (::unshare(CLONE_NEWPID) != 0) return -1;
      break;
    case confinement::user_namespace:
      return fork_mapped_init(with, groups, group);
    case confinement::none:
      break;
  }
  const pid_t main = ::fork();
  if (main != 0) return main;
  groups.enter(group);
  if (with.spec.security->confined_by == confinement::namespaces) run_init(with);
  run_container(with);
}

// The only child of the init, by its pid out here.
pid_t child_of(pid_t init) {
  std::ifstream file{fmt::format("/proc/{}/task/{}/children", init, init)};
  pid_t child = 0;
  file >> child;
  return child;
}

std::int64_t steady_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

// Reads both streams until the container's process has ended and its output is drained.
class pump {
 public:
  pump(int out, int err, const std::string& log) : log_{log}, fds_{out, err} {}

  void run(pid_t main, int signals, int& status) {
    bool ended = false;
    // Once it has ended: a descendant may hold the pipes open, and fill them for ever.
    for (int rounds_left = last_rounds; (!ended || open()) && rounds_left > 0;) {
      const auto wait = ended ? 0 : budget_.wait_ms(steady_ms());
      std::array<pollfd, 3> waiting{pollfd{wait > 0 ? -1 : fds_[0], POLLIN, 0},
                                    pollfd{wait > 0 ? -1 : fds_[1], POLLIN, 0},
                                    pollfd{signals, POLLIN, 0}};
      // After the end only what is in the pipes already matters.
      const int patience = ended ? 0 : wait > 0 ? static_cast<int>(wait) : -1;
      const int ready = ::poll(waiting.data(), waiting.size(), patience);
      if (ended && (--rounds_left, ready <= 0)) break;
      for (int i = 0; i < 2; ++i)
        if (waiting[static_cast<std::size_t>(i)].revents != 0) drain(i);
      if (waiting[2].revents == 0) continue;
      signalfd_siginfo info;
      static_cast<void>(!::read(signals, &info, sizeof info));
      int code = 0;
      for (pid_t gone; (gone = ::waitpid(-1, &code, WNOHANG)) > 0;)
        if (gone == main) ended = true, status = code;
    }
    log_.finish("stdout");
    log_.finish("stderr");
  }

 private:
  bool open() const { return fds_[0] >= 0 || fds_[1] >= 0; }
  void drain(int stream) {
    auto& fd = fds_[stream];
    const auto n = ::read(fd, buffer_.data(), buffer_.size());
    if (n > 0) {
      const auto before = log_.written();
      log_.take(stream == 0 ? "stdout" : "stderr", {buffer_.data(), static_cast<std::size_t>(n)});
      budget_.take(log_.written() - before);
    } else if (n == 0 || errno != EINTR) {
      ::close(fd);
      fd = -1;
    }
  }
  // Of both pipes, made as large as anybody may make them.
  static constexpr int last_rounds = 2 * (1 << 20) / (16 << 10);
  log_writer log_;
  log_rate_limit budget_{kubelet_defaults::log_bytes_per_second};
  int fds_[2];
  std::array<char, 16 << 10> buffer_;
};

// What the process left behind has been handed to us, its subreaper.
void end_descendants() {
  for (int round = 0; round < 1'000; ++round) {
    const auto path = fmt::format("/proc/self/task/{}/children", ::getpid());
    std::array<char, 4096> text{};
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const auto n = fd >= 0 ? ::read(fd, text.data(), text.size() - 1) : -1;
    if (fd >= 0) ::close(fd);
    if (n <= 0) return;
    char* rest = nullptr;
    for (auto* at = ::strtok_r(text.data(), " ", &rest); at != nullptr;
         at = ::strtok_r(nullptr, " ", &rest))
      ::kill(static_cast<pid_t>(std::atol(at)), SIGKILL);
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
  }
}

int finish(const container_dir& dir, const container_exit& how) {
  return dir.write(how) ? 0 : 1;
}

}  // namespace

int container_shim_main(const char* directory) {
  const container_dir dir{directory};
  const auto started = wall_ms();
  ::fcntl(ready_fd, F_SETFD, FD_CLOEXEC);
  ::setsid();
  // It outlives the node: who waits for the end of the node's output must not wait for ours.
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::dup2(nothing, fd);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGPIPE, SIG_IGN);
  for (const int s : {SIGTERM, SIGINT, SIGHUP})
    signal(s, SIG_IGN);
  auto spec = dir.spec();
  const auto fail = [&](std::string message) {
    return finish(dir, {.code = 128,
                        .started_ms = started,
                        .finished_ms = wall_ms(),
                        .error = std::move(message)});
  };
  if (!spec) return fail(spec.error());
  if (spec->command.empty()) return fail("the container has no command");
  if (!spec->security) spec->security = unrestricted();
  const auto identity = identity_of(*spec->security);
  if (!identity) return fail(identity.error());

  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  const int signals = ::signalfd(-1, &child, SFD_CLOEXEC);
  const auto out = make_pipe(), err = make_pipe(), report = make_pipe(), result = make_pipe();

  // The container is born in its group; the shim itself stays outside.
  const auto groups = cgroup_tree::find();
  groups.make(dir.group(), spec->limits);
  const bool isolated = spec->security->confined_by != confinement::none;
  const pid_t main = give_birth(
      {*spec, *identity, out.write, err.write, report.write, result.write}, groups, dir.group());
  const int code = errno;
  for (const int fd : {out.write, err.write, report.write, result.write})
    ::close(fd);

  // The report pipe closes at exec; until then it may tell of a failure.
  std::string failure(512, '\0');
  const auto told = ::read(report.read, failure.data(), failure.size());
  failure.resize(told > 0 ? static_cast<std::size_t>(told) : 0);
  if (main < 0) {
    groups.remove(dir.group());
    return fail(failure.empty() ? fmt::format("cannot fork: {}", std::strerror(code)) : failure);
  }
  const auto self = identify(::getpid());
  const auto process = identify(isolated ? child_of(main) : main);
  if (self && failure.empty())
    static_cast<void>(
        dir.write(running_process{*self, process.value_or(process_id{main, 0}), started}));

  ::close(ready_fd);

  int status = 0;
  pump{out.read, err.read, spec->log_file}.run(main, signals, status);
  if (isolated && ::read(result.read, &status, sizeof status) != sizeof status)
    status = SIGKILL;  // the init itself was killed
  end_descendants();
  const bool out_of_memory = groups.ran_out_of_memory(dir.group());
  groups.remove(dir.group());
  const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return finish(dir, {.code = number != 0 ? 128 + number : WEXITSTATUS(status),
                      .signal = number,
                      .started_ms = started,
                      .finished_ms = wall_ms(),
                      .error = failure,
                      .out_of_memory = out_of_memory});
}

}  // namespace troupe::actors
