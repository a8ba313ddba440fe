#include "actors/kubelet/runtimes/process/container_shim.hpp"

#include <fcntl.h>
#include <fmt/format.h>
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

#include "actors/kubelet/os/child_process.hpp"
#include "actors/kubelet/runtimes/process/container_dir.hpp"
#include "actors/kubelet/runtimes/process/container_root.hpp"
#include "actors/kubelet/runtimes/process/container_streams.hpp"
#include "actors/kubelet/runtimes/process/shim_pump.hpp"
#include "actors/kubelet/runtimes/process/streams/attach_server.hpp"
#include "actors/kubelet/security/process_identity.hpp"

namespace troupe::actors {

namespace {

// Closed after `running` or `exit` was written: the shim's parent waits for that.
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

// Reports through the pipe to the shim why exec failed.
[[noreturn]] void refuse(int report, const std::string& message, int code = 126) {
  static_cast<void>(!::write(report, message.data(), message.size()));
  ::_exit(code);
}

// The same with the failed action and errno.
[[noreturn]] void give_up(int report, const char* action) {
  const int code = errno;
  refuse(report, fmt::format("{}: {}", action, std::strerror(code)), code == ENOENT ? 127 : 126);
}

// Parameters of all steps that start a container.
struct launch_parameters {
  const container_spec& spec;
  const process_identity& identity;
  container_streams& streams;
  int report, result;
};

void require(const tl::expected<void, std::string>& done, int report) {
  if (!done) refuse(report, done.error());
}

[[noreturn]] void run_container(const launch_parameters& with) {
  const auto& spec = with.spec;
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // without its shim nobody would notice its end
  require(with.streams.become_standard(), with.report);
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

// The init of a PID namespace: the kernel drops signals for which an init has no handler, so the
// container's process is its child and dies of SIGTERM as usual. When it has ended, the init exits,
// which kills all remaining processes of the namespace. It has the container's mounts too, so that
// its /proc entries lead nowhere else.
[[noreturn]] void run_init(const launch_parameters& with) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 0);  // the container cannot follow /proc/PID/exe to this program
  ::close(ready_fd);
  require(make_container_root(with.spec), with.report);
  const pid_t main = ::fork();
  if (main == 0) run_container(with);
  if (main < 0) give_up(with.report, "cannot fork");
  with.streams.close_all();
  ::close(with.report);
  int status = 0;
  for (pid_t gone; (gone = ::waitpid(-1, &status, 0)) != main;)
    if (gone < 0 && errno != EINTR) break;
  static_cast<void>(!::write(with.result, &status, sizeof status));
  ::_exit(0);
}

// Forks the init in its own user namespace. A process with several threads cannot create one, nor
// be the first in a PID namespace that it creates: a child creates both, leaves its own child to
// the shim, which is its subreaper, and reports the pid. Below 0: it failed.
pid_t fork_mapped_init(const launch_parameters& with, const cgroup_tree& groups,
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
      // Wait for the maker's exit: the death signal must belong to the shim.
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

// Forks the process that the shim waits for. Below 0: it failed.
pid_t launch(const launch_parameters& with, const cgroup_tree& groups, const std::string& group) {
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

// The only child of the init, by its pid outside of the namespace.
pid_t child_of(pid_t init) {
  std::ifstream file{fmt::format("/proc/{}/task/{}/children", init, init)};
  pid_t child = 0;
  file >> child;
  return child;
}

// Kills processes that were reparented to the shim, their subreaper.
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

int failed(const container_dir& dir, std::int64_t started, std::string message) {
  return finish(
      dir,
      {.code = 128, .started_ms = started, .finished_ms = wall_ms(), .error = std::move(message)});
}

// A forked child delivers the last output to slow readers, because the kubelet waits for the shim's
// exit. A process forked by the shim starts in the container's PID namespace, which has ended, so
// return to the shim's own first.
void drain_attached(attach_server& attached) {
  if (!attached.is_behind()) return;
  const int own = ::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
  ::setns(own, CLONE_NEWPID);
  if (::fork() == 0) attached.drain();
}

int signals_of_children() {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  return ::signalfd(-1, &child, SFD_CLOEXEC);
}

// Runs the container from its start to its end.
int run(const container_dir& dir, const container_spec& spec, const process_identity& identity,
        std::int64_t started) {
  const int signals = signals_of_children();
  const auto report = make_pipe(), result = make_pipe();
  container_streams streams{spec};

  // The container starts in its control group; the shim itself stays outside.
  const auto groups = cgroup_tree::find();
  groups.make(dir.group(), spec.limits);
  const bool isolated = spec.security->confined_by != confinement::none;
  const pid_t main =
      launch({spec, identity, streams, report.write, result.write}, groups, dir.group());
  const int code = errno;
  streams.close_theirs();
  for (const int fd : {report.write, result.write})
    ::close(fd);

  // The report pipe closes at exec; before that it may report an error.
  std::string failure(512, '\0');
  const auto told = ::read(report.read, failure.data(), failure.size());
  failure.resize(told > 0 ? static_cast<std::size_t>(told) : 0);
  if (main < 0) {
    groups.remove(dir.group());
    return failed(dir, started,
                  failure.empty() ? fmt::format("cannot fork: {}", std::strerror(code)) : failure);
  }
  if (!streams.take_terminal() && failure.empty()) failure = "the terminal was not handed over";
  // Created after the fork, so that no process of the container inherits it.
  attach_server attached{dir.path(),
                         {std::move(streams.input), spec.stdin_once, std::move(streams.terminal)}};
  // The log exists before the container is reported as running.
  shim_pump pump{std::move(streams.output), std::move(streams.error), spec.log_file, spec.log,
                 attached};
  const auto self = identify(::getpid());
  const auto process = identify(isolated ? child_of(main) : main);
  if (self && failure.empty())
    static_cast<void>(
        dir.write(running_process{*self, process.value_or(process_id{main, 0}), started}));
  ::close(ready_fd);

  int status = pump.run(main, signals);
  if (isolated && ::read(result.read, &status, sizeof status) != sizeof status)
    status = SIGKILL;  // the init was killed itself
  end_descendants();
  const bool out_of_memory = groups.ran_out_of_memory(dir.group());
  groups.remove(dir.group());
  const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const int exit_code = number != 0 ? 128 + number : WEXITSTATUS(status);
  const int written = finish(dir, {.code = exit_code,
                                   .signal = number,
                                   .started_ms = started,
                                   .finished_ms = wall_ms(),
                                   .error = failure,
                                   .out_of_memory = out_of_memory});
  attached.end(exit_code);
  drain_attached(attached);
  return written;
}

}  // namespace

int container_shim_main(const char* directory) {
  const container_dir dir{directory};
  const auto started = wall_ms();
  ::fcntl(ready_fd, F_SETFD, FD_CLOEXEC);
  ::setsid();
  // The shim outlives the node: it must not keep the node's output open.
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::dup2(nothing, fd);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGPIPE, SIG_IGN);
  for (const int s : {SIGTERM, SIGINT, SIGHUP})
    signal(s, SIG_IGN);
  auto spec = dir.spec();
  if (!spec) return failed(dir, started, spec.error());
  if (spec->command.empty()) return failed(dir, started, "the container has no command");
  if (!spec->security) spec->security = unrestricted();
  const auto identity = identity_of(*spec->security);
  if (!identity) return failed(dir, started, identity.error());
  return run(dir, *spec, *identity, started);
}

}  // namespace troupe::actors
