#include "actors/kubelet/volumes/pod_volumes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/os/path_check.hpp"
#include "actors/kubelet/os/safe_files.hpp"
#include "actors/kubelet/security/protected_paths.hpp"
#include "actors/kubelet/volumes/claim_volumes.hpp"
#include "actors/kubelet/volumes/nfs_volumes.hpp"
#include "actors/kubelet/volumes/volume_content.hpp"
#include "actors/kubelet/volumes/volume_group.hpp"
#include "actors/kubelet/volumes/volume_writer.hpp"
#include "api/values/quantity.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;
using namespace api::core::v1;
using void_result = tl::expected<void, std::string>;
using path_result = tl::expected<std::string, std::string>;

// kubernetes: emptyDir is accessible to all users of the pod's containers.
constexpr mode_t empty_dir_mode = 0777;
constexpr mode_t files_mode = 0755;

bool is_mount_point(const fs::path& path) {
  struct stat own {
  }, above{};
  return ::stat(path.c_str(), &own) == 0 && ::stat(path.parent_path().c_str(), &above) == 0 &&
         own.st_dev != above.st_dev;
}

void_result mount_memory(const fs::path& at, mode_t mode, std::int64_t bytes) {
  if (is_mount_point(at)) return {};
  std::string options = fmt::format("mode={:o}", mode);
  if (bytes > 0) options += fmt::format(",size={}", bytes);
  if (::mount("tmpfs", at.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0)
    return tl::make_unexpected(
        fmt::format("cannot mount tmpfs at {}: {}", at.string(), std::strerror(errno)));
  return {};
}

std::int64_t limit_of(const EmptyDirVolumeSource& source) {
  const auto limit = api::quantity::parse(source.size_limit().string());
  return source.has_size_limit() && limit && limit->sign() > 0 ? (limit->milli_value() + 999) / 1000
                                                               : 0;
}

bool may_hold_secrets(const VolumeSource& source) {
  return source.has_secret() || source.has_projected() || source.has_downward_api();
}

void_result fill(const Pod& pod, const VolumeSource& source, const fs::path& at,
                 const object_reader& read, const pod_tokens& tokens, bool may_mount) {
  if (source.has_empty_dir()) {
    const auto& medium = source.empty_dir().medium();
    if (!medium.empty() && medium != "Memory")
      return tl::make_unexpected(fmt::format("medium {} is not supported", medium));
    if (medium.empty() || !may_mount) return {};
    return mount_memory(at, empty_dir_mode, limit_of(source.empty_dir()));
  }
  const auto files = volume_files(pod, source, read, tokens);
  if (!files) return tl::make_unexpected(files.error());
  if (may_mount && may_hold_secrets(source))
    if (auto mounted = mount_memory(at, files_mode, kubelet_defaults::secret_volume_bytes);
        !mounted)
      return mounted;
  return write_volume(at, *files);
}

path_result set_up(const Pod& pod, const Volume& volume, const fs::path& pod_dir,
                   const object_reader& read, const pod_tokens& tokens, bool may_mount,
                   const std::vector<std::string>& hidden) {
  const auto& source = volume.volume_source();
  if (source.has_host_path()) return set_up_host_path(source.host_path(), hidden);
  if (volume.name().find('/') != std::string::npos || volume.name().starts_with('.'))
    return tl::make_unexpected(std::string{"invalid volume name"});
  if (source.has_nfs())
    return set_up_nfs(share_of(source.nfs()), pod_dir, volume.name(), may_mount);
  const auto below = volume_path(volume);
  if (below.empty())
    return tl::make_unexpected(std::string{"volumes of this kind are not supported here"});
  auto at =
      make_volume_directory(pod_dir, below, source.has_empty_dir() ? empty_dir_mode : files_mode);
  if (!at) return at;
  if (auto filled = fill(pod, source, *at, read, tokens, may_mount); !filled)
    return tl::make_unexpected(filled.error());
  const auto& context = pod.spec().security_context();
  if (context.has_fs_group())
    if (auto changed =
            set_volume_group(*at, static_cast<gid_t>(context.fs_group()), !source.has_empty_dir());
        !changed)
      return tl::make_unexpected(changed.error());
  return at;
}

}  // namespace

path_result make_volume_directory(const fs::path& pod_dir, const std::string& below, mode_t mode) {
  std::error_code problem;
  fs::create_directories(pod_dir, problem);
  const auto directory = open_directory(pod_dir);
  if (!directory) return tl::make_unexpected(directory.error());
  if (auto kind = make_beneath(*directory, "volumes/" + below.substr(0, below.find('/')), 0750);
      !kind)
    return tl::make_unexpected(kind.error());
  if (auto own = make_beneath(*directory, "volumes/" + below, mode); !own)
    return tl::make_unexpected(own.error());
  return (pod_dir / "volumes" / below).string();
}

path_result set_up_host_path(const HostPathVolumeSource& source,
                             const std::vector<std::string>& hidden) {
  const auto& path = source.path();
  const auto check = [path, type = source.type(), hidden]() -> void_result {
    if (auto ours = check_not_protected(path, hidden); !ours)
      return tl::make_unexpected("hostPath " + ours.error());
    return check_host_path(path, type);
  };
  if (auto fits = check_in_time(path, check); !fits) return tl::make_unexpected(fits.error());
  return path;
}

volumes_set_up set_up_volumes(const Pod& pod, const fs::path& pod_dir, const object_reader& read,
                              bool may_mount, const std::vector<std::string>& hidden,
                              const pod_tokens& tokens) {
  volumes_set_up result;
  for (const auto& volume : pod.spec().volumes()) {
    const auto add = [&](const path_result& stands, bool device = false) {
      if (stands)
        (device ? result.devices : result.paths)[volume.name()] = *stands;
      else
        result.problems.push_back(
            {device ? "FailedMapVolume" : "FailedMount",
             fmt::format("{} failed for volume \"{}\" : {}",
                         device ? "MapVolume.MapBlockVolume" : "MountVolume.SetUp", volume.name(),
                         stands.error())});
    };
    if (!is_claim(volume.volume_source())) {
      add(set_up(pod, volume, pod_dir, read, tokens, may_mount, hidden));
      continue;
    }
    const auto found = find_claimed_volume(pod, volume, pod_dir, read);
    if (!found) {
      add(tl::make_unexpected(found.error()));
      continue;
    }
    const auto& body = (*found)->as<PersistentVolume>();
    if (is_device(body))
      add(map_device(body, hidden), true);
    else
      add(set_up_claim(pod, volume, body, pod_dir, may_mount, hidden));
  }
  return result;
}

void_result check_host_path(const std::string& path, const std::string& type) {
  struct stat info {};
  bool there = ::stat(path.c_str(), &info) == 0;
  // Without a type nothing is checked; a missing directory is created, as by container runtimes.
  if (!there && (type.empty() || type == "DirectoryOrCreate")) {
    std::error_code problem;
    fs::create_directories(path, problem);
    there = ::stat(path.c_str(), &info) == 0;
  } else if (!there && type == "FileOrCreate") {
    const runtime::unique_fd made{::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644)};
    there = ::stat(path.c_str(), &info) == 0;
  }
  if (!there)
    return tl::make_unexpected(
        fmt::format("hostPath type check failed: {}: {}", path, std::strerror(errno)));
  const bool fits = type.empty()                    ? true
                    : type.starts_with("Directory") ? S_ISDIR(info.st_mode)
                    : type.starts_with("File")      ? S_ISREG(info.st_mode)
                    : type == "Socket"              ? S_ISSOCK(info.st_mode)
                    : type == "CharDevice"          ? S_ISCHR(info.st_mode)
                                                    : S_ISBLK(info.st_mode);
  if (fits) return {};
  return tl::make_unexpected(
      fmt::format("hostPath type check failed: {} is not of type {}", path, type));
}

}  // namespace troupe::actors
