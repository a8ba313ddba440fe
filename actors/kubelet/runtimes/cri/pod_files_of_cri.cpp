#include "actors/kubelet/runtimes/cri/pod_files_of_cri.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "actors/kubelet/logs/log_reader.hpp"
#include "actors/kubelet/os/path_check.hpp"
#include "actors/kubelet/os/safe_files.hpp"
#include "actors/kubelet/runtimes/cri/defaults.hpp"
#include "actors/kubelet/runtimes/process/mount_points.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

std::string system_message(const std::string& action, const fs::path& path) {
  return fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(errno));
}

// With exactly this mode, independent of the umask.
void write_file(const fs::path& path, const std::string& text, mode_t mode) {
  std::ofstream file{path, std::ios::trunc};
  file << text;
  file.close();
  if (!file || ::chmod(path.c_str(), mode) != 0)
    throw std::system_error{errno, std::generic_category(), "cannot write " + path.string()};
}

std::string read_whole(const fs::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// Makes an empty file or directory to mount at. An earlier try to create this attempt may have
// mounted there: through that mount the volume itself would be changed.
void make_mount_point(const fs::path& at, bool directory) {
  while (::umount2(at.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
  }
  std::error_code ignored;
  fs::remove(at, ignored);
  fs::create_directories(directory ? at : at.parent_path());
  if (directory) return;
  const runtime::unique_fd made{
      ::open(at.c_str(), O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!made) throw std::runtime_error{system_message("make", at)};
}

// Binds the current target of the subPath; a missing one becomes a directory.
void bind_sub_path(container_mount& mount, const fs::path& at) {
  if (const auto answers = check_answers(mount.source); !answers)
    throw std::runtime_error{answers.error()};
  if (mount.own && !open_source(mount)) {
    const auto volume = open_directory(mount.source);
    if (!volume) throw std::runtime_error{volume.error()};
    if (const auto made = make_beneath(*volume, mount.sub_path, 0755, true); !made)
      throw std::runtime_error{made.error()};
  }
  const auto source = open_source(mount);
  if (!source) throw std::runtime_error{source.error()};
  struct stat info {};
  if (::fstat(source->get(), &info) != 0) throw std::runtime_error{system_message("look at", at)};
  make_mount_point(at, S_ISDIR(info.st_mode));
  const auto from = fmt::format("/proc/self/fd/{}", source->get());
  if (::mount(from.c_str(), at.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    throw std::runtime_error{system_message("mount a subPath at", at)};
  mount.source = at;
  mount.sub_path.clear();
}

std::string last_bytes(const fs::path& path, std::size_t limit) {
  std::ifstream file{path, std::ios::ate};
  const auto size = static_cast<std::streamoff>(file.tellg());
  if (size <= 0) return {};
  const auto kept = std::min(size, static_cast<std::streamoff>(limit));
  file.seekg(size - kept);
  std::string text(static_cast<std::size_t>(kept), '\0');
  file.read(text.data(), kept);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

tl::expected<container_files_of_pod, std::string> make_container_files(
    container_config& config, const cri_node& node, const std::vector<std::string>& ips) try {
  const auto& pod = config.pod->as<api::core::v1::Pod>();
  const auto dir = pod_path(node.root_dir, config.pod->meta().uid());
  const auto attempt = fmt::format("{}-{}", config.spec->name(), config.attempt);
  fs::create_directories(dir / "logs" / config.spec->name());
  container_files_of_pod files;
  files.hosts = dir / "etc-hosts";
  write_file(files.hosts,
             pod.spec().host_network() ? hosts_file_of_node(pod, read_whole("/etc/hosts"))
                                       : hosts_file(pod, ips),
             0644);
  if (!config.spec->termination_message_path().empty()) {
    files.termination_message = dir / "messages" / attempt;
    fs::create_directories(dir / "messages");
    write_file(files.termination_message, {}, 0666);
  }
  std::size_t number = 0;
  for (auto& mount : config.mounts)
    if (!mount.sub_path.empty())
      bind_sub_path(mount, dir / "sub-paths" / attempt / std::to_string(number++));
  return files;
} catch (const std::exception& e) {
  return tl::make_unexpected(std::string{e.what()});
}

std::string termination_message(const cri::ContainerStatus& ended) {
  const auto note = [&](const char* name) {
    const auto found = ended.annotations().find(name);
    return found == ended.annotations().end() ? std::string{} : found->second;
  };
  const auto file = note(cri_annotations::message_file);
  if (!file.empty()) {
    if (auto text = last_bytes(file, cri_defaults::termination_message_bytes); !text.empty())
      return text;
  }
  if (ended.exit_code() == 0 ||
      note(cri_annotations::termination_policy) != "FallbackToLogsOnError")
    return {};
  log_query last;
  last.tail_lines = static_cast<std::int64_t>(cri_defaults::termination_log_lines);
  log_reader log{ended.log_path(), last};
  std::string text;
  for (auto part = log.next(); !part.empty(); part = log.next()) {
    text += part;
    if (text.size() > cri_defaults::termination_log_bytes)
      text.erase(0, text.size() - cri_defaults::termination_log_bytes);
  }
  return text;
}

void remove_older_files(const cri_node& node, const std::string& pod_uid,
                        const std::string& container, int attempt) {
  const auto dir = pod_path(node.root_dir, pod_uid);
  std::error_code problem;
  // Removes entries named `prefix` and the number of an older attempt.
  const auto each_older = [&](const fs::path& in, const std::string& prefix, auto remove) {
    for (const auto& entry : fs::directory_iterator{in, problem}) {
      const auto name = entry.path().filename().string();
      if (!name.starts_with(prefix)) continue;
      const auto* const begin = name.data() + prefix.size();
      const auto* const end = name.data() + name.size();
      int number = 0;
      const auto read = std::from_chars(begin, end, number);
      if (read.ec == std::errc{} && (read.ptr == end || *read.ptr == '.') && number + 1 < attempt)
        remove(entry.path());
    }
  };
  each_older(dir / "logs" / container, {}, [&](const fs::path& log) { fs::remove(log, problem); });
  each_older(dir / "messages", container + "-",
             [&](const fs::path& message) { fs::remove(message, problem); });
  each_older(dir / "sub-paths", container + "-", [&](const fs::path& of_attempt) {
    for (const auto& mount : fs::directory_iterator{of_attempt, problem})
      ::umount2(mount.path().c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
    remove_tree(of_attempt);
  });
}

void remove_container_files(const cri_node& node, const std::string& pod_uid) {
  const auto dir = pod_path(node.root_dir, pod_uid);
  std::error_code problem;
  for (const auto* name : {"logs", "messages"})
    remove_tree(dir / name);
  fs::remove(dir / "etc-hosts", problem);
}

}  // namespace troupe::actors
