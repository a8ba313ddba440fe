#include "actors/kubelet/runtimes/cri/log_rotation.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "actors/kubelet/defaults.hpp"

namespace troupe::actors {

namespace fs = std::filesystem;

bool rotate_log(const std::string& path) {
  std::error_code problem;
  const auto size = fs::file_size(path, problem);
  if (problem || size <= kubelet_defaults::log_file_bytes) return false;
  for (int number = kubelet_defaults::log_files - 2; number > 0; --number)
    fs::rename(fmt::format("{}.{}", path, number), fmt::format("{}.{}", path, number + 1), problem);
  fs::rename(path, path + ".1", problem);
  return !problem;
}

void undo_rotation(const std::string& path) {
  std::error_code problem;
  if (!fs::exists(path, problem)) fs::rename(path + ".1", path, problem);
}

}  // namespace troupe::actors
