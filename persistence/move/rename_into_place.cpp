#include "persistence/move/rename_into_place.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace troupe::persistence {

namespace fs = std::filesystem;

expected<void> rename_into_place(const std::string& partial, const std::string& place) {
  const auto above = fs::absolute(place).parent_path();
  std::error_code failed;
  fs::rename(partial, place, failed);
  if (failed) return fail(errc::io, fmt::format("{}: {}", place, failed.message()));
  const int directory = ::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = directory >= 0 && ::fsync(directory) == 0;
  const int reason = errno;
  if (directory >= 0) ::close(directory);
  if (!synced) return fail(errc::io, fmt::format("{}: {}", above.string(), std::strerror(reason)));
  return {};
}

}  // namespace troupe::persistence
