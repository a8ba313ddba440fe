#include "actors/kubelet/runtimes/process/container_processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <system_error>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/os/child_process.hpp"
#include "actors/kubelet/os/path_check.hpp"
#include "actors/kubelet/runtimes/process/container_files.hpp"
#include "actors/kubelet/runtimes/process/container_shim.hpp"
#include "actors/kubelet/runtimes/process/mount_points.hpp"
#include "actors/kubelet/runtimes/process/streams/defaults.hpp"
#include "actors/kubelet/security/protected_paths.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

namespace {

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

// The shim ended without writing an exit: the container ended too, by its death signal. After a
// reboot their pids may belong to other processes.
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

// Mounts a file of the container's directory over the machine's resolv.conf, unless there is none
// or a volume is at its place.
tl::expected<void, std::string> place_resolver(const container_dir& dir, container_spec& spec) {
  std::error_code problem;
  const std::filesystem::path usual = "/etc/resolv.conf";
  const auto target = std::filesystem::canonical(usual, problem).string();  // it may be a link
  if (problem) return {};
  for (const auto& mount : spec.mounts)
    for (const auto& path : {usual.string(), target})
      if (path == mount.target || path.starts_with(mount.target + "/")) return {};
  auto file = dir.write_resolver(spec.resolver);
  if (!file) return tl::make_unexpected(file.error());
  spec.mounts.push_back({std::move(*file), {}, target, true});
  order_mounts(spec.mounts);
  return {};
}

// A container's directory is ROOT/pods/UID/containers/NAME/ATTEMPT (container_files.hpp). Copies
// the seccomp profile into the spec, so that later commands in the container use the same one.
tl::expected<void, std::string> prepare(const container_dir& dir, container_spec& spec) {
  const auto pod_dir = dir.path().parent_path().parent_path().parent_path();
  const auto root_dir = pod_dir.parent_path().parent_path();
  if (spec.security && spec.security->seccomp == seccomp_kind::profile) {
    auto profile = read_seccomp_profile(root_dir, spec.security->seccomp_profile);
    if (!profile) return tl::make_unexpected(profile.error());
    spec.security->seccomp_profile = std::move(*profile);
  }
  if (!spec.resolver.empty())
    if (auto placed = place_resolver(dir, spec); !placed) return placed;
  if (spec.mounts.empty()) return {};
  const auto& hidden = hidden_of(spec);
  for (const auto& mount : spec.mounts) {
    if (auto answers = check_answers(mount.source); !answers) return answers;
    if (!mount.own)
      if (auto fits = check_not_protected(mount.source + "/" + mount.sub_path, hidden); !fits)
        return fits;
    if (!mount.own || mount.target != mount.source)
      if (auto fits = check_not_protected(mount.target, hidden); !fits)
        return tl::make_unexpected("mountPath " + fits.error());
  }
  return prepare_mounts(root_dir, pod_dir.filename(), spec.mounts);
}

// Returns an empty iterator if there is no directory.
std::filesystem::directory_iterator entries_of(const std::filesystem::path& directory) {
  std::error_code problem;
  std::filesystem::directory_iterator all{directory, problem};
  if (problem == std::errc::too_many_files_open ||
      problem == std::errc::too_many_files_open_in_system ||
      problem == std::errc::not_enough_memory)
    throw std::system_error{problem, directory.string()};
  return all;
}

// The key of its jobs: the pod's uid.
std::string pod_of(const container_dir& dir) {
  return dir.path().parent_path().parent_path().parent_path().filename();
}

constexpr int ready_fd = 3;  // the shim closes it after it has written `running` or `exit`

}  // namespace

std::string own_program() {
  std::error_code problem;
  return std::filesystem::read_symlink("/proc/self/exe", problem).string();
}

struct container_processes::impl {
  std::string program;
  const std::shared_ptr<job_queue> jobs;
  const std::shared_ptr<event_loop> loop;
  const cgroup_tree groups = cgroup_tree::find();
  std::atomic<bool> told_of_want{false}, ending{false};
  std::mutex mutex;
  std::condition_variable idle;
  int under_way = 0;               // running jobs that use this object
  std::set<std::string> starting;  // containers whose shims are not ready yet

  impl(std::string program, std::shared_ptr<job_queue> jobs, std::shared_ptr<event_loop> loop)
      : program{std::move(program)}, jobs{std::move(jobs)}, loop{std::move(loop)} {}
  // The jobs outlive this object, so wait for those that use it.
  ~impl() {
    ending = true;
    loop->stop();
    std::unique_lock lock{mutex};
    idle.wait(lock, [this] { return under_way == 0; });
  }

  bool post(const std::string& pod, std::function<void()> job) {
    {
      const std::lock_guard lock{mutex};
      ++under_way;
    }
    const auto done = [this] {
      const std::lock_guard lock{mutex};
      if (--under_way == 0) idle.notify_all();
    };
    const auto counted = [this, job = std::move(job), done] {
      try {
        if (!ending) job();
      } catch (const std::exception& e) {
        spdlog::error("kubelet: a job of a container threw: {}", e.what());
      }
      done();
    };
    const bool taken = pod.empty() ? jobs->post(counted) : jobs->post(pod, counted);
    if (!taken) done();
    return taken;
  }

  // Repeats `look` until it does not fail for lack of descriptors or memory.
  void insist(const std::function<void()>& look) {
    try {
      look();
    } catch (const std::system_error& e) {
      if (!told_of_want.exchange(true))
        spdlog::error("kubelet: cannot read the state of containers: {}; will retry", e.what());
      later(look);
    }
  }
  void later(const std::function<void()>& look) {
    loop->after(kubelet_defaults::recheck_delay, [this, look] {
      if (!post({}, [this, look] { insist(look); })) later(look);
    });
  }
  void insist_in_turn(const std::string& pod, const std::function<void()>& look) {
    if (!post(pod, [this, look] { insist(look); })) later(look);
  }

  // Notifies the observer of the container's end when its shim has exited.
  void await_end(const container_dir& dir, pid_t shim, const container_observer& tell) {
    runtime::unique_fd process{open_pidfd(shim)};
    if (!process && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
      throw std::system_error{errno, std::generic_category(), "pidfd_open"};
    const auto over = [this, dir, shim, tell] {
      ::waitpid(shim, nullptr, WNOHANG);  // fails if an earlier node process started the shim
      insist([dir, tell] {
        const auto exit = dir.exit();
        tell(exit && exit->finished_ms != 0 ? *exit : lost(dir));
      });
    };
    if (!process) return over();
    loop->wait_and_close(std::move(process), over);
  }

  bool is_starting(const container_dir& dir) {
    const std::lock_guard lock{mutex};
    return starting.contains(dir.path());
  }
  void set_starting(const container_dir& dir, bool is) {
    const std::lock_guard lock{mutex};
    if (is)
      starting.insert(dir.path());
    else
      starting.erase(dir.path());
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
    runtime::unique_fd ours{ready[0]}, its{ready[1]};
    const auto shim = spawn_program({program, container_shim_command, dir.path().string()},
                                    {{its.get(), ready_fd}});
    its.reset();
    if (!shim) return tell(failed_start(shim.error()));
    set_starting(dir, true);
    loop->wait_and_close(std::move(ours), [this, dir, shim = *shim, tell] {
      set_starting(dir, false);
      insist([this, dir, shim, tell] {
        if (const auto running = dir.running()) tell(container_running{running->since_ms});
        await_end(dir, shim, tell);
      });
    });
  }

  void follow(const container_dir& dir, const std::string& boot_id,
              const container_observer& tell) {
    // Started by this process for an earlier life of the pod's worker.
    if (is_starting(dir)) {
      loop->after(process_defaults::start_check_delay,
                  [this, dir, boot_id, tell] { insist([&] { follow(dir, boot_id, tell); }); });
      return;
    }
    if (const auto over = dir.exit()) return tell(*over);
    const auto begun_in = dir.spec().value_or(container_spec{}).boot_id;
    if (!begun_in.empty() && begun_in != boot_id) return tell(lost(dir, true));
    const auto running = dir.running();
    if (!running || !running->shim.alive()) return tell(lost(dir));
    tell(container_running{running->since_ms});
    await_end(dir, running->shim.pid, tell);
  }
};

container_processes::container_processes(std::string program, std::shared_ptr<job_queue> jobs,
                                         std::shared_ptr<event_loop> loop)
    : impl_{new impl{std::move(program), std::move(jobs), std::move(loop)}} {
  spdlog::log(impl_->groups.keeps_limits() ? spdlog::level::info : spdlog::level::warn,
              "kubelet: control groups of containers: {}", impl_->groups.about());
}

container_processes::~container_processes() = default;

const cgroup_tree& container_processes::groups() const noexcept {
  return impl_->groups;
}

void container_processes::start(container_dir dir, container_spec spec, container_observer tell) {
  const bool taken = impl_->post(pod_of(dir), [impl = impl_.get(), dir, spec = std::move(spec),
                                               tell] { impl->start(dir, spec, tell); });
  if (!taken) tell(failed_start("too many containers are being started"));
}

void container_processes::follow(container_dir dir, std::string boot_id, container_observer tell) {
  impl_->insist_in_turn(pod_of(dir), [impl = impl_.get(), dir, boot_id = std::move(boot_id), tell] {
    impl->follow(dir, boot_id, tell);
  });
}

void container_processes::stop(container_dir dir, bool kill) {
  impl_->post({}, [dir, kill] {
    if (const auto running = dir.running()) running->process.signal(kill ? SIGKILL : SIGTERM, kill);
  });
}

void container_processes::survey(std::filesystem::path pod_dir,
                                 std::function<void(std::vector<found>)> done) {
  impl_->insist_in_turn(pod_dir.filename(), [pod_dir, done] {
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
  });
}

}  // namespace troupe::actors
