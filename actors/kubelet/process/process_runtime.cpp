#include "actors/kubelet/process/process_runtime.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/os/child_process.hpp"
#include "actors/kubelet/process/container_shim.hpp"
#include "actors/kubelet/process/mount_points.hpp"
#include "actors/kubelet/process/pod_files.hpp"
#include "actors/kubelet/process/pod_job_queue.hpp"
#include "actors/kubelet/security/protected_paths.hpp"
#include "runtime/worker_pool.hpp"

namespace troupe::actors {

namespace {

// Waits for file descriptors to become readable or to hang up, each once, on a thread of its own.
class waiter {
 public:
  waiter()
      : epoll_{::epoll_create1(EPOLL_CLOEXEC)}, wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    if (epoll_ < 0 || wake_ < 0)
      throw std::system_error{errno, std::generic_category(), "cannot wait for processes"};
    epoll_event event{.events = EPOLLIN, .data = {.fd = wake_}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
    thread_ = std::thread{[this] { loop(); }};
  }
  ~waiter() {
    stop();
    for (const auto& [fd, action] : actions_)
      ::close(fd);
    ::close(wake_);
    ::close(epoll_);
  }

  // Owns `fd` from here on.
  void wait(int fd, std::function<void()> action) {
    const std::lock_guard guard{mutex_};
    actions_[fd] = std::move(action);
    epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = fd}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  // Nothing is done any more.
  void stop() {
    ending_ = true;
    ::eventfd_write(wake_, 1);
    if (thread_.joinable()) thread_.join();
  }

  // After `kubelet_defaults::look_again`, or at most as long again.
  void later(std::function<void()> action) {
    const std::lock_guard guard{mutex_};
    later_.push_back(std::move(action));
    ::eventfd_write(wake_, 1);
  }

 private:
  int patience_ms() {
    const std::lock_guard guard{mutex_};
    return later_.empty() ? -1 : static_cast<int>(kubelet_defaults::look_again.count());
  }

  void run_later() {
    std::vector<std::function<void()>> due;
    {
      const std::lock_guard guard{mutex_};
      due.swap(later_);
    }
    for (const auto& each : due)
      each();
  }

  void loop() {
    for (;;) {
      epoll_event event;
      const int count = ::epoll_wait(epoll_, &event, 1, patience_ms());
      if (count == 0) run_later();
      if (count <= 0) continue;
      if (event.data.fd == wake_) {
        eventfd_t rung = 0;
        ::eventfd_read(wake_, &rung);
        if (ending_) return;
        continue;
      }
      std::function<void()> action;
      {
        const std::lock_guard guard{mutex_};
        const auto found = actions_.find(event.data.fd);
        action = std::move(found->second);
        actions_.erase(found);
      }
      ::close(event.data.fd);
      action();
    }
  }

  int epoll_, wake_;
  std::mutex mutex_;
  std::map<int, std::function<void()>> actions_;
  std::vector<std::function<void()>> later_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

int open_pidfd(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

const std::vector<std::string>& hidden_of(const container_spec& spec) {
  static const std::vector<std::string> nothing;
  return spec.security ? spec.security->hidden : nothing;
}

container_exit failed_start(std::string error) {
  const auto now = wall_ms();
  return {.code = 128, .started_ms = now, .finished_ms = now, .error = std::move(error)};
}

// The shim has gone without a word: so has the container, by its death signal when the shim was
// killed. After a reboot others have their pids.
container_exit lost(const container_dir& dir, bool rebooted = false) {
  const auto now = wall_ms();
  container_exit how{
      .code = 137,
      .signal = SIGKILL,
      .started_ms = now,
      .finished_ms = now,
      .error = rebooted ? "the machine was restarted" : "the container's shim was killed",
      .lost = true};
  if (const auto running = dir.running()) {
    if (!rebooted) running->process.signal(SIGKILL, true);
    how.started_ms = running->since_ms;
  }
  cgroup_tree::find().remove(dir.group());
  static_cast<void>(dir.write(how));
  return how;
}

// A container's directory is ROOT/pods/UID/containers/NAME/ATTEMPT (pod_files.hpp). Puts the
// seccomp profile that the spec names into it: commands in the container go by the same one.
tl::expected<void, std::string> prepare(const container_dir& dir, container_spec& spec) {
  const auto pod_dir = dir.path().parent_path().parent_path().parent_path();
  const auto root_dir = pod_dir.parent_path().parent_path();
  if (spec.security && spec.security->seccomp == seccomp_kind::profile) {
    auto profile = read_seccomp_profile(root_dir, spec.security->seccomp_profile);
    if (!profile) return tl::make_unexpected(profile.error());
    spec.security->seccomp_profile = std::move(*profile);
  }
  if (spec.mounts.empty()) return {};
  const auto& hidden = hidden_of(spec);
  for (const auto& mount : spec.mounts) {
    if (!mount.own)
      if (auto fits = check_not_protected(mount.source + "/" + mount.sub_path, hidden); !fits)
        return fits;
    if (!mount.own || mount.target != mount.source)
      if (auto fits = check_not_protected(mount.target, hidden); !fits)
        return tl::make_unexpected("mountPath " + fits.error());
  }
  return prepare_mounts(root_dir, pod_dir.filename(), spec.mounts);
}

// Empty where there is none.
std::filesystem::directory_iterator entries_of(const std::filesystem::path& directory) {
  std::error_code problem;
  std::filesystem::directory_iterator all{directory, problem};
  if (problem == std::errc::too_many_files_open ||
      problem == std::errc::too_many_files_open_in_system ||
      problem == std::errc::not_enough_memory)
    throw std::system_error{problem, directory.string()};
  return all;
}

std::string pod_of(const container_dir& dir) {
  return dir.path().parent_path().parent_path().parent_path().string();
}

constexpr int ready_fd = 3;  // the shim closes it when it has written `running` or `exit`

}  // namespace

std::string own_program() {
  std::error_code problem;
  return std::filesystem::read_symlink("/proc/self/exe", problem).string();
}

struct process_runtime::impl {
  std::string program;
  const cgroup_tree groups = cgroup_tree::find();
  waiter ends;
  pod_job_queue turns{pool, kubelet_defaults::runtime_queue};
  std::atomic<bool> told_of_want{false};
  // Destroyed first: its jobs use `ends`.
  runtime::worker_pool pool{"containers", kubelet_defaults::runtime_threads,
                            kubelet_defaults::runtime_queue};

  ~impl() { ends.stop(); }

  // Again and again, until nothing that it looks at is hidden by want of descriptors or memory.
  void insist(const std::function<void()>& look) {
    try {
      look();
    } catch (const std::system_error& e) {
      if (!told_of_want.exchange(true))
        spdlog::error("kubelet: containers cannot be looked at now: {}; tried again", e.what());
      ends.later([this, look] { try_again(look); });
    }
  }
  void try_again(const std::function<void()>& look) {
    if (!pool.post([this, look] { insist(look); })) ends.later([this, look] { try_again(look); });
  }

  // Tells of the container's end when its shim is gone.
  void await_end(const container_dir& dir, pid_t shim, const container_observer& tell) {
    const int fd = open_pidfd(shim);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
      throw std::system_error{errno, std::generic_category(), "pidfd_open"};
    const auto over = [this, dir, shim, tell] {
      ::waitpid(shim, nullptr, WNOHANG);  // ours, unless an earlier node started it
      insist([dir, tell] {
        const auto exit = dir.exit();
        tell(exit && exit->finished_ms != 0 ? *exit : lost(dir));
      });
    };
    if (fd < 0) return over();
    ends.wait(fd, over);
  }

  void start(const container_dir& dir, container_spec spec, const container_observer& tell) {
    if (auto prepared = prepare(dir, spec); !prepared) return tell(failed_start(prepared.error()));
    if (auto written = dir.write(spec); !written) return tell(failed_start(written.error()));
    std::error_code problem;
    std::filesystem::create_directories(std::filesystem::path{spec.log_file}.parent_path(),
                                        problem);
    const auto container = dir.path().parent_path();
    prune_attempts(container.parent_path().parent_path(), container.filename(),
                   std::atoi(dir.path().filename().c_str()));
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0) return tell(failed_start(std::strerror(errno)));
    const auto shim = spawn_program({program, container_shim_command, dir.path().string()},
                                    {{ready[1], ready_fd}});
    ::close(ready[1]);
    if (!shim) {
      ::close(ready[0]);
      return tell(failed_start(shim.error()));
    }
    ends.wait(ready[0], [this, dir, shim = *shim, tell] {
      insist([this, dir, shim, tell] {
        if (const auto running = dir.running()) tell(*running);
        await_end(dir, shim, tell);
      });
    });
  }

  void follow(const container_dir& dir, const std::string& boot_id,
              const container_observer& tell) {
    if (const auto over = dir.exit()) return tell(*over);
    const auto begun_in = dir.spec().value_or(container_spec{}).boot_id;
    if (!begun_in.empty() && begun_in != boot_id) return tell(lost(dir, true));
    const auto running = dir.running();
    if (!running || !running->shim.alive()) return tell(lost(dir));
    tell(*running);
    await_end(dir, running->shim.pid, tell);
  }
};

process_runtime::process_runtime(std::string program) : impl_{new impl} {
  impl_->program = std::move(program);
  spdlog::log(impl_->groups.keeps_limits() ? spdlog::level::info : spdlog::level::warn,
              "kubelet: control groups of containers: {}", impl_->groups.about());
}

process_runtime::~process_runtime() = default;

const cgroup_tree& process_runtime::groups() const noexcept {
  return impl_->groups;
}

void process_runtime::start(container_dir dir, container_spec spec, container_observer tell) {
  const bool taken = impl_->turns.post(
      pod_of(dir), [this, dir, spec = std::move(spec), tell] { impl_->start(dir, spec, tell); });
  if (!taken) tell(failed_start("too many containers are being started"));
}

void process_runtime::follow(container_dir dir, std::string boot_id, container_observer tell) {
  const auto look = [this, dir, boot_id = std::move(boot_id), tell] {
    impl_->insist([this, dir, boot_id, tell] { impl_->follow(dir, boot_id, tell); });
  };
  if (!impl_->turns.post(pod_of(dir), look))
    impl_->ends.later([this, look] { impl_->try_again(look); });
}

void process_runtime::stop(container_dir dir, bool kill) {
  impl_->pool.post([dir, kill] {
    if (const auto running = dir.running()) running->process.signal(kill ? SIGKILL : SIGTERM, kill);
  });
}

void process_runtime::survey(std::filesystem::path pod_dir,
                             std::function<void(std::vector<found>)> done) {
  const auto look = [pod_dir, done] {
    std::vector<found> all;
    for (const auto& container : entries_of(pod_dir / "containers")) {
      int newest = -1;
      for (const auto& attempt : entries_of(container.path()))
        newest = std::max(newest, std::atoi(attempt.path().filename().c_str()));
      if (newest < 0) continue;
      const container_dir dir{container.path() / std::to_string(newest)};
      auto spec = dir.spec().value_or(container_spec{});
      all.push_back({container.path().filename(), newest, dir, std::move(spec.image),
                     std::move(spec.boot_id),
                     container_dir{container.path() / std::to_string(newest - 1)}.exit()});
    }
    done(std::move(all));
  };
  const auto job = [this, look] { impl_->insist(look); };
  if (!impl_->turns.post(pod_dir.string(), job))
    impl_->ends.later([this, look] { impl_->try_again(look); });
}

bool process_runtime::run(const std::filesystem::path& pod_dir, std::function<void()> job) {
  return impl_->turns.post(pod_dir.string(), std::move(job));
}

bool process_runtime::run(std::function<void()> job) {
  return impl_->pool.post(std::move(job));
}

}  // namespace troupe::actors
