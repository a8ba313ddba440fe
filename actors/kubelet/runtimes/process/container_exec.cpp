#include "actors/kubelet/runtimes/process/container_exec.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "actors/kubelet/os/child_process.hpp"
#include "actors/kubelet/runtimes/process/container_dir.hpp"
#include "actors/kubelet/security/process_identity.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

namespace {

int refuse(int code, const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return code;
}

// Returns an empty descriptor if the process is in the same namespace as this one.
runtime::unique_fd foreign_namespace(pid_t pid, const char* kind) {
  runtime::unique_fd theirs{
      ::open(fmt::format("/proc/{}/ns/{}", pid, kind).c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat own {
  }, other{};
  if (!theirs || ::fstat(theirs.get(), &other) != 0 ||
      ::stat(fmt::format("/proc/self/ns/{}", kind).c_str(), &own) != 0 ||
      (own.st_ino == other.st_ino && own.st_dev == other.st_dev))
    return {};
  return theirs;
}

// Also enters the container's root: entering a mount namespace switches to the machine's root, and
// a node may live in a chroot.
bool enter_namespaces(const process_id& process) {
  const runtime::unique_fd root{
      ::open(fmt::format("/proc/{}/root", process.pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  const auto users = foreign_namespace(process.pid, "user");
  const auto processes = foreign_namespace(process.pid, "pid");
  const auto mounts = foreign_namespace(process.pid, "mnt");
  // The descriptors may belong to a later process with this pid: check its start time.
  if (!process.alive()) return false;
  // The user namespace first: it grants the right to enter the others.
  return (!users || ::setns(users.get(), CLONE_NEWUSER) == 0) &&
         (!processes || ::setns(processes.get(), CLONE_NEWPID) == 0) &&
         (!mounts || (root && ::setns(mounts.get(), CLONE_NEWNS) == 0 &&
                      ::fchdir(root.get()) == 0 && ::chroot(".") == 0));
}

[[noreturn]] void run_command(const container_spec& spec, const process_identity& identity,
                              const std::vector<std::string>& command) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 0);  // the container cannot follow /proc/PID/exe to this program
  ::setsid();
  if (::isatty(STDIN_FILENO)) ::ioctl(STDIN_FILENO, TIOCSCTTY, 0);
  const auto& dir = spec.working_dir.empty() ? std::string{"/"} : spec.working_dir;
  if (::chdir(dir.c_str()) != 0)
    ::_exit(refuse(126, fmt::format("cannot enter {}: {}", dir, std::strerror(errno))));
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  auto variables = spec.environment;
  add_home(variables, identity);
  auto arguments = pointers(command);
  auto environment = pointers(variables);
  if (const auto done = take_identity(identity, *spec.security); !done)
    ::_exit(refuse(126, done.error()));
  ::execvpe(arguments[0], arguments.data(), environment.data());
  const int code = errno;
  ::_exit(refuse(code == ENOENT ? 127 : 126,
                 fmt::format("cannot run {}: {}", command.front(), std::strerror(code))));
}

int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

sigset_t awaited_signals() {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGTERM);
  return awaited;
}

// Waits for a child and returns its exit code; on SIGTERM it sends `signal` to `target`.
int wait_for(pid_t child, pid_t target, int signal) {
  const auto awaited = awaited_signals();
  for (;;) {
    siginfo_t info;
    if (::sigwaitinfo(&awaited, &info) == SIGTERM) ::kill(target, signal);
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) return code_of(status);
  }
}

int enter_and_run(const char* directory, const std::vector<std::string>& command) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const container_dir dir{directory};
  const auto running = dir.running();
  auto spec = dir.spec();
  if (!running || !spec || dir.exit()) return refuse(126, "the container does not run");
  if (!spec->security) spec->security = unrestricted();
  const auto identity = identity_of(*spec->security);
  if (!identity) return refuse(126, identity.error());
  // Before entering: inside the container the groups are read-only.
  cgroup_tree::find().enter(dir.group());
  if (!enter_namespaces(running->process))
    return refuse(126, fmt::format("cannot enter the container: {}", std::strerror(errno)));
  const pid_t child = ::fork();
  if (child == 0) run_command(*spec, *identity, command);
  if (child < 0) return refuse(126, fmt::format("cannot fork: {}", std::strerror(errno)));
  return wait_for(child, -child, SIGKILL);
}

}  // namespace

// Only a single-threaded process can enter a mount namespace, and the allocator may start threads
// before main: so a forked child, which has none, enters it.
int container_exec_main(const char* directory, const std::vector<std::string>& command) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const auto awaited = awaited_signals();
  sigprocmask(SIG_BLOCK, &awaited, nullptr);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(enter_and_run(directory, command));
  if (child < 0) return refuse(126, fmt::format("cannot fork: {}", std::strerror(errno)));
  return wait_for(child, child, SIGTERM);
}

}  // namespace troupe::actors
