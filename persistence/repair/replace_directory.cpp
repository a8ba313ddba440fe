#include "persistence/repair/replace_directory.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <filesystem>

namespace troupe::persistence {

bool exchange_names(const std::string& one, const std::string& other) {
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

expected<void> replace_directory(
    const std::string& directory, const std::string& made, const std::string& aside,
    const std::function<bool(const std::string&, const std::string&)>& exchange) {
  namespace fs = std::filesystem;
  // Renamed before the exchange, not after it: the old files are never in `made`, which the next
  // run removes.
  std::error_code bad;
  fs::rename(made, aside, bad);
  if (!bad && exchange(aside, directory)) return {};
  if (!bad) fs::rename(aside, made, bad);
  if (!bad) fs::rename(directory, aside, bad);
  if (!bad) {
    fs::rename(made, directory, bad);
    std::error_code ignored;
    if (bad) fs::rename(aside, directory, ignored);
  }
  if (!bad) return {};
  return fail(errc::io, fmt::format("cannot replace {} by {}: {}", directory, made, bad.message()));
}

}  // namespace troupe::persistence
