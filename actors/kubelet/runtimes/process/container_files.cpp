#include "actors/kubelet/runtimes/process/container_files.hpp"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "actors/kubelet/os/safe_files.hpp"
#include "actors/kubelet/runtimes/process/mount_points.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view scheme = "process://";

// Returns 7 for "7", "7.log" and "7.log.2".
std::optional<int> attempt_of(const std::string& name) {
  int number = 0;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (problem != std::errc{} || (*end != '\0' && *end != '.')) return std::nullopt;
  return number;
}

bool is_file_name(std::string_view text) {
  return !text.empty() && text != "." && text != ".." &&
         text.find_first_of(std::string_view{"/\0", 2}) == text.npos;
}

}  // namespace

std::string process_container_id::text() const {
  return fmt::format("{}{}/{}/{}", scheme, pod_uid, name, attempt);
}

std::optional<process_container_id> parse_container_id(std::string_view text) {
  if (!text.starts_with(scheme)) return std::nullopt;
  text.remove_prefix(scheme.size());
  const auto first = text.find('/'), last = text.rfind('/');
  if (first == text.npos || first == last) return std::nullopt;
  process_container_id id{std::string{text.substr(0, first)},
                          std::string{text.substr(first + 1, last - first - 1)}};
  const auto number = text.substr(last + 1);
  const auto* const end = number.data() + number.size();
  const auto [rest, problem] = std::from_chars(number.data(), end, id.attempt);
  if (problem != std::errc{} || rest != end || id.attempt < 0 || !is_file_name(id.pod_uid) ||
      !is_file_name(id.name))
    return std::nullopt;
  return id;
}

fs::path attempt_path(const fs::path& pod_dir, const std::string& container, int attempt) {
  return pod_dir / "containers" / container / std::to_string(attempt);
}

fs::path log_path(const fs::path& root_dir, const std::string& pod_uid,
                  const std::string& container, int attempt) {
  return pod_path(root_dir, pod_uid) / "logs" / container / (std::to_string(attempt) + ".log");
}

void prune_attempts(const fs::path& pod_dir, const std::string& container, int attempt) {
  for (const char* kind : {"containers", "logs"}) {
    std::vector<fs::path> old;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator{pod_dir / kind / container, problem})
      if (const auto number = attempt_of(entry.path().filename()); number && *number < attempt - 1)
        old.push_back(entry.path());
    for (const auto& path : old)
      remove_tree(path);
  }
}

void remove_containers(const fs::path& pod_dir) {
  release_mount_points(pod_dir.parent_path().parent_path(), pod_dir.filename());
  const auto leaving = pod_dir / "containers~";
  remove_tree(leaving);  // left by an interrupted removal
  std::error_code problem;
  fs::rename(pod_dir / "containers", leaving, problem);
  remove_tree(leaving);
  remove_tree(pod_dir / "logs");
}

}  // namespace troupe::actors
