#include "actors/kubelet/container_shim.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "actors/kubelet/child_process.hpp"
#include "actors/kubelet/container_dir.hpp"
#include "actors/kubelet/log_writer.hpp"
#include "actors/kubelet/mount_points.hpp"

namespace troupe::actors {

namespace {

// Closed when `running` or `exit` has been written: whoever started the shim waits for that.
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

// Tells the shim over the pipe why exec did not happen: errno, then what was tried.
[[noreturn]] void give_up(int report, const char* what) {
  const int code = errno;
  std::string message = fmt::format("{}: {}", what, std::strerror(code));
  static_cast<void>(!::write(report, message.data(), message.size()));
  ::_exit(code == ENOENT ? 127 : 126);
}

// What is missing where a volume is to stand inside of another one: made in there. The kubelet has
// made what is missing outside (mount_points.hpp).
void make_target(const std::string& target, bool directory) {
  struct stat info {};
  if (::stat(target.c_str(), &info) == 0) return;
  std::error_code problem;
  const std::filesystem::path path{target};
  std::filesystem::create_directories(directory ? path : path.parent_path(), problem);
  if (!directory) ::close(::open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
}

void mount_volume(const container_spec::mount& m, int report) {
  const auto source = open_source(m);
  if (!source) give_up(report, ("cannot mount at " + m.target + ": " + source.error()).c_str());
  struct stat info {};
  ::fstat(source->get(), &info);
  make_target(m.target, S_ISDIR(info.st_mode));
  const auto from = fmt::format("/proc/self/fd/{}", source->get());
  if (::mount(from.c_str(), m.target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    give_up(report, ("cannot mount " + m.source + " at " + m.target).c_str());
}

void seal(const container_spec::mount& m, int report) {
  if (::mount(nullptr, m.target.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0)
    give_up(report, ("cannot make " + m.target + " read-only").c_str());
}

// A mount namespace for the container alone: what is mounted in it nobody else sees, and what the
// machine unmounts is unmounted in it too.
void set_up_mounts(const container_spec& spec, bool isolated, int report) {
  if (!isolated && spec.mounts.empty()) return;
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    if (spec.mounts.empty()) return;
    give_up(report, "cannot make a mount namespace for the volumes");
  }
  for (const auto& m : spec.mounts)
    mount_volume(m, report);
  // At last, as what stands inside of another may have had to be made in there.
  for (const auto& m : spec.mounts)
    if (m.read_only) seal(m, report);
  // So that the container sees its own processes by the numbers that they have in there.
  if (isolated) static_cast<void>(::mount("proc", "/proc", "proc", 0, nullptr));
}

[[noreturn]] void run_container(const container_spec& spec, bool isolated, int out, int err,
                                int report) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // without its shim nobody would hear of its end
  set_up_mounts(spec, isolated, report);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  const auto& dir = spec.working_dir.empty() ? std::string{"/"} : spec.working_dir;
  if (::chdir(dir.c_str()) != 0) give_up(report, ("cannot enter " + dir).c_str());
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int s : shim_ignores)
    signal(s, SIG_DFL);
  auto arguments = pointers(spec.command);
  auto environment = pointers(spec.environment);
  ::execvpe(arguments[0], arguments.data(), environment.data());
  give_up(report, ("cannot run " + spec.command.front()).c_str());
}

// The init of a PID namespace: the kernel drops signals that an init has no handler for, so the
// container's process is its child instead and dies of SIGTERM as it would anywhere. When it has
// ended, so does the init, and with it all that is left in the namespace.
[[noreturn]] void run_init(const container_spec& spec, int out, int err, int report, int result) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::close(ready_fd);
  const pid_t main = ::fork();
  if (main == 0) run_container(spec, true, out, err, report);
  if (main < 0) give_up(report, "cannot fork");
  for (const int fd : {out, err, report})
    ::close(fd);
  int status = 0;
  for (pid_t gone; (gone = ::waitpid(-1, &status, 0)) != main;)
    if (gone < 0 && errno != EINTR) break;
  static_cast<void>(!::write(result, &status, sizeof status));
  ::_exit(0);
}

// The only child of the init, by its pid out here.
pid_t child_of(pid_t init) {
  std::ifstream file{fmt::format("/proc/{}/task/{}/children", init, init)};
  pid_t child = 0;
  file >> child;
  return child;
}

// Reads both streams until the container's process has ended and its output is drained.
class pump {
 public:
  pump(int out, int err, const std::string& log) : log_{log}, fds_{out, err} {}

  void run(pid_t main, int signals, int& status) {
    bool ended = false;
    while (!ended || open()) {
      std::array<pollfd, 3> waiting{pollfd{fds_[0], POLLIN, 0}, pollfd{fds_[1], POLLIN, 0},
                                    pollfd{signals, POLLIN, 0}};
      // After the end only what is in the pipes already matters: a descendant may hold them open.
      const int ready = ::poll(waiting.data(), waiting.size(), ended ? 0 : -1);
      if (ended && ready <= 0) break;
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
  void drain(int which) {
    auto& fd = fds_[which];
    const auto n = ::read(fd, buffer_.data(), buffer_.size());
    if (n > 0) {
      log_.take(which == 0 ? "stdout" : "stderr", {buffer_.data(), static_cast<std::size_t>(n)});
    } else if (n == 0 || errno != EINTR) {
      ::close(fd);
      fd = -1;
    }
  }
  log_writer log_;
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
  const auto spec = dir.spec();
  if (!spec || spec->command.empty())
    return finish(dir, {.code = 128,
                        .started_ms = started,
                        .finished_ms = wall_ms(),
                        .error = spec ? "the container has no command" : spec.error()});

  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  const int signals = ::signalfd(-1, &child, SFD_CLOEXEC);
  const auto out = make_pipe(), err = make_pipe(), report = make_pipe(), result = make_pipe();

  // The container is born in its group; the shim itself stays outside.
  const auto groups = cgroup_tree::find();
  groups.make(dir.group(), spec->limits);
  const bool isolated = ::unshare(CLONE_NEWPID) == 0;
  const pid_t main = ::fork();
  if (main == 0) groups.enter(dir.group());
  if (main == 0 && isolated) run_init(*spec, out.write, err.write, report.write, result.write);
  if (main == 0) run_container(*spec, false, out.write, err.write, report.write);
  for (const int fd : {out.write, err.write, report.write, result.write})
    ::close(fd);
  if (main < 0)
    return finish(dir, {.code = 128,
                        .started_ms = started,
                        .finished_ms = wall_ms(),
                        .error = fmt::format("cannot fork: {}", std::strerror(errno))});

  // The report pipe closes at exec; until then it may tell of a failure.
  std::string failure(512, '\0');
  const auto told = ::read(report.read, failure.data(), failure.size());
  failure.resize(told > 0 ? static_cast<std::size_t>(told) : 0);
  const auto self = identify(::getpid());
  const auto process = identify(isolated ? child_of(main) : main);
  if (self && failure.empty())
    static_cast<void>(
        dir.write(container_running{*self, process.value_or(process_id{main, 0}), started}));

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
