#include "actors/kubelet/runtimes/process/container_root.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "actors/kubelet/os/mount_table.hpp"
#include "actors/kubelet/os/safe_files.hpp"
#include "actors/kubelet/runtimes/process/mount_points.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;
using void_result = tl::expected<void, std::string>;
using detached = tl::expected<runtime::unique_fd, std::string>;

constexpr unsigned long plain_files = MS_NOSUID | MS_NODEV | MS_NOEXEC;
// Options of a cover: it has room for the directories in which a pod's own volumes are mounted.
constexpr const char* cover_options = "size=64k,nr_inodes=1k,mode=555";

// containerd's defaults (oci/spec.go).
constexpr const char* covered_files[] = {
    "/proc/acpi",       "/proc/asound",      "/proc/kcore",
    "/proc/keys",       "/proc/kmsg",        "/proc/latency_stats",
    "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
    "/proc/scsi",       "/sys/firmware",     "/sys/devices/virtual/powercap"};
constexpr const char* sealed_files[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                        "/proc/sysrq-trigger"};
constexpr const char* common_devices[] = {"null", "zero", "full", "random", "urandom", "tty"};
// Shared by processes of one machine.
constexpr const char* shared_places[] = {"shm", "mqueue"};
constexpr std::pair<const char*, const char*> device_links[] = {{"ptmx", "pts/ptmx"},
                                                                {"fd", "/proc/self/fd"},
                                                                {"stdin", "/proc/self/fd/0"},
                                                                {"stdout", "/proc/self/fd/1"},
                                                                {"stderr", "/proc/self/fd/2"}};

tl::unexpected<std::string> failed(const std::string& action) {
  return tl::make_unexpected(fmt::format("cannot {}: {}", action, std::strerror(errno)));
}

detached take_tree(int directory, const char* path) {
  runtime::unique_fd tree{::open_tree(
      directory, path,
      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | (*path == '\0' ? AT_EMPTY_PATH : 0))};
  if (!tree) return failed(fmt::format("take the mounts of {}", path));
  return tree;
}

bool change(int directory, const char* path, std::uint64_t set, std::uint64_t clear,
            bool recursive) {
  mount_attr attributes{};
  attributes.attr_set = set;
  attributes.attr_clr = clear;
  const unsigned flags = (recursive ? AT_RECURSIVE : 0) | (*path == '\0' ? AT_EMPTY_PATH : 0);
  return ::mount_setattr(directory, path, flags, &attributes, sizeof attributes) == 0;
}

bool attach(const runtime::unique_fd& tree, const std::string& at) {
  return ::move_mount(tree.get(), "", AT_FDCWD, at.c_str(), MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// Hides a path: nothing in it can be read or written any more.
bool cover(const std::string& path) {
  if (is_directory(path))
    return ::mount("tmpfs", path.c_str(), "tmpfs", plain_files, cover_options) == 0;
  return ::mount("/dev/null", path.c_str(), nullptr, MS_BIND, nullptr) == 0;
}

bool make_slaves() {
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0;
}

// In a chroot, / need not be a mount point, but only mount points can be changed. This enters the
// namespace's root for a moment; mounts below it do not reach the machine, because they are slaves.
void_result make_root_a_mount_point() {
  const runtime::unique_fd root{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  const runtime::unique_fd own{::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC)};
  if (!root || !own || ::setns(own.get(), CLONE_NEWNS) != 0 || !make_slaves())
    return failed("enter the root of the mount namespace");
  const auto tree = take_tree(root.get(), "");
  if (!tree) return tl::make_unexpected(tree.error());
  if (::move_mount(tree->get(), "", root.get(), "",
                   MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0 ||
      ::fchdir(tree->get()) != 0 || ::chroot(".") != 0)
    return failed("make / a mount point");
  return {};
}

class root_maker {
 public:
  explicit root_maker(const container_spec& spec)
      : spec_{spec},
        security_{*spec.security},
        by_root_{security_.confined_by == confinement::namespaces},
        restricts_{by_root_ && !security_.privileged} {}

  void_result make() {
    if (::unshare(CLONE_NEWNS) != 0) return failed("make a mount namespace");
    if (!make_slaves()) {
      if (errno != EINVAL) return failed("separate the mounts from the machine's");
      if (auto done = make_root_a_mount_point(); !done) return done;
    }
    for (const auto step :
         {&root_maker::take_own_volumes, &root_maker::cover_node, &root_maker::own_proc,
          &root_maker::seal_kernel, &root_maker::take_host_volumes, &root_maker::restrict_all,
          &root_maker::own_devices, &root_maker::place_volumes, &root_maker::seal_covers})
      if (auto done = (this->*step)(); !done) return done;
    // The working directory may be covered.
    if (::chdir("/") != 0) return failed("enter /");
    return {};
  }

 private:
  struct volume {
    const container_mount* mount;
    runtime::unique_fd tree;
    bool directory;
  };

  void_result take_volumes(bool own) {
    for (const auto& each : spec_.mounts) {
      if (each.own != own) continue;
      const auto source = open_source(each);
      if (!source)
        return tl::make_unexpected("cannot mount at " + each.target + ": " + source.error());
      struct stat info {};
      ::fstat(source->get(), &info);
      auto tree = take_tree(source->get(), "");
      if (!tree) return tl::make_unexpected("cannot mount " + each.source + ": " + tree.error());
      if (restricts_ && !change(tree->get(), "", MOUNT_ATTR_NODEV, 0, true))
        return failed("take the devices from " + each.source);
      volumes_.push_back({&each, std::move(*tree), S_ISDIR(info.st_mode)});
    }
    return {};
  }

  void_result take_own_volumes() { return take_volumes(true); }
  void_result take_host_volumes() {
    return security_.privileged ? void_result{} : take_volumes(false);
  }

  void_result cover_node() {
    mounts_ = read_mounts();
    for (const auto& hidden : security_.hidden) {
      std::error_code problem;
      const auto real = fs::canonical(hidden, problem).string();
      if (problem) {
        if (problem == std::errc::no_such_file_or_directory)
          continue;  // below a path that is covered already
        return tl::make_unexpected("cannot find " + hidden + ": " + problem.message());
      }
      const auto paths = visible_paths(real, mounts_);
      for (const auto& each : paths)
        if (!cover(each)) return failed("cover " + each);
      covers_.insert(covers_.end(), paths.begin(), paths.end());
    }
    // Creates the mount points of volumes that stay at their path, while that is still possible.
    for (const auto& each : volumes_)
      if (each.mount->target == each.mount->source) make_target(each.mount->target, each.directory);
    return {};
  }

  // hostPath volumes of privileged containers keep the machine's /proc. In a user namespace, /proc
  // cannot be mounted if the machine's is partly covered; there the user namespace itself protects
  // other processes.
  void_result own_proc() {
    if (security_.privileged)
      if (auto taken = take_volumes(false); !taken) return taken;
    if (::mount("proc", "/proc", "proc", plain_files, nullptr) == 0 || !by_root_) return {};
    return failed("mount /proc");
  }

  void_result seal_kernel() {
    if (!restricts_) return {};
    for (const char* path : covered_files)
      if (::access(path, F_OK) == 0 && !cover(path)) return failed(fmt::format("cover {}", path));
    for (const char* path : sealed_files) {
      if (::access(path, F_OK) != 0) continue;
      if (::mount(path, path, nullptr, MS_BIND | MS_REC, nullptr) != 0 ||
          !change(AT_FDCWD, path, MOUNT_ATTR_RDONLY, 0, true))
        return failed(fmt::format("make {} read-only", path));
    }
    if (!change(AT_FDCWD, "/sys", MOUNT_ATTR_RDONLY, 0, true) && errno != EINVAL && errno != ENOENT)
      return failed("make /sys read-only");
    for (const auto& each : mounts_) {
      if (each.type != "proc" || each.point == "/proc" || is_beneath(each.point, "/proc")) continue;
      if (::access(each.point.c_str(), F_OK) != 0) continue;
      const auto tree = take_tree(AT_FDCWD, "/proc");
      if (!tree) return tl::make_unexpected(tree.error());
      if (each.root != "/" ? !cover(each.point) : !attach(*tree, each.point))
        return failed("cover " + each.point);
    }
    return {};
  }

  void_result restrict_all() {
    const std::uint64_t wanted =
        (restricts_ ? MOUNT_ATTR_NODEV : 0) | (security_.read_only_root ? MOUNT_ATTR_RDONLY : 0);
    if (auto taken = take_devices(); !taken) return taken;
    if (wanted != 0 && !change(AT_FDCWD, "/", wanted, 0, true))
      return failed("restrict the mounts");
    if (!security_.read_only_root) return {};
    // As in container runtimes: paths that must be read-only in there are mounted so separately.
    if (!change(AT_FDCWD, "/proc", 0, MOUNT_ATTR_RDONLY, false))
      return failed("make /proc writable");
    if (!restricts_) static_cast<void>(change(AT_FDCWD, "/dev", 0, MOUNT_ATTR_RDONLY, true));
    return {};
  }

  // Opens the machine's devices before all mounts become nodev.
  void_result take_devices() {
    const auto take = [&](const char* name) -> void_result {
      const auto path = fmt::format("/dev/{}", name);
      if (::access(path.c_str(), F_OK) != 0) return {};
      auto tree = take_tree(AT_FDCWD, path.c_str());
      if (!tree) return tl::make_unexpected(tree.error());
      devices_.emplace_back(path, std::move(*tree));
      return {};
    };
    if (!restricts_) return {};
    for (const char* name : common_devices)
      if (auto taken = take(name); !taken) return taken;
    for (const char* name : shared_places)
      if (auto taken = take(name); !taken) return taken;
    return {};
  }

  void_result own_devices() {
    if (!restricts_) return {};
    if (::mount("tmpfs", "/dev", "tmpfs", plain_files, "size=64k,mode=755") != 0)
      return failed("mount /dev");
    for (const auto& [path, tree] : devices_) {
      struct stat info {};
      ::fstat(tree.get(), &info);
      make_target(path, S_ISDIR(info.st_mode));
      if (!attach(tree, path)) return failed("place " + path);
    }
    make_target("/dev/pts", true);
    if (::mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
                "newinstance,ptmxmode=0666,mode=0620") != 0)
      return failed("mount /dev/pts");
    for (const auto& [name, target] : device_links)
      static_cast<void>(!::symlink(target, fmt::format("/dev/{}", name).c_str()));
    return {};
  }

  // Creates a missing mount point inside of another volume or of a mount above. The kubelet has
  // created those outside (mount_points.hpp). No link created by the container leads out of a
  // volume.
  void make_target(const std::string& target, bool directory) {
    struct stat info {};
    if (::stat(target.c_str(), &info) == 0) return;
    const fs::path path{target};
    const auto parent = directory ? path : path.parent_path();
    const std::string* outer = nullptr;
    for (const auto& each : spec_.mounts)
      if (is_beneath(target, each.target) && (!outer || each.target.size() > outer->size()))
        outer = &each.target;
    if (!outer) {
      std::error_code problem;
      fs::create_directories(parent, problem);
      if (!directory) ::close(::open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
      return;
    }
    const auto volume = open_directory(*outer);
    if (!volume) return;
    const auto within = parent.lexically_relative(*outer).string();
    const auto made = make_beneath(*volume, within, 0755, true);
    if (made && !directory)
      static_cast<void>(
          open_beneath(*made, path.filename(), O_CREAT | O_WRONLY | O_NOFOLLOW, 0644));
  }

  void_result place_volumes() {
    for (const auto& mount : spec_.mounts) {
      const auto found = std::find_if(volumes_.begin(), volumes_.end(),
                                      [&](const auto& each) { return each.mount == &mount; });
      make_target(mount.target, found->directory);
      if (!attach(found->tree, mount.target))
        return failed("mount " + mount.source + " at " + mount.target);
    }
    // Last, because mount points may have had to be created inside of other volumes.
    for (const auto& each : volumes_)
      if (each.mount->read_only && !change(each.tree.get(), "", MOUNT_ATTR_RDONLY, 0, false))
        return failed("make " + each.mount->target + " read-only");
    return {};
  }

  // Makes the file systems read-only, because the covers are visible in hostPath volumes too.
  void_result seal_covers() {
    for (const auto& each : covers_)
      if (is_directory(each) && ::mount(nullptr, each.c_str(), nullptr,
                                        MS_REMOUNT | MS_RDONLY | plain_files, cover_options) != 0)
        return failed("make the cover of " + each + " read-only");
    return {};
  }

  const container_spec& spec_;
  const process_security& security_;
  const bool by_root_;  // root of the machine
  const bool
      restricts_;  // restricts devices and kernel files; an ordinary user cannot use them anyway
  std::vector<mount_entry> mounts_;
  std::vector<std::string> covers_;
  std::vector<volume> volumes_;
  std::vector<std::pair<std::string, runtime::unique_fd>> devices_;
};

}  // namespace

void_result make_container_root(const container_spec& spec) {
  return root_maker{spec}.make();
}

}  // namespace troupe::actors
