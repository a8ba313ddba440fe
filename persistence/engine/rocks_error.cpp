#include "persistence/engine/rocks_error.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <string>

#include "persistence/defaults.hpp"

namespace troupe::persistence {

namespace {

bool is_lock(const rocksdb::Status& status) {
  const auto text = status.ToString();
  return status.IsIOError() && (text.find("lock file") != std::string::npos ||
                                text.find("lock hold") != std::string::npos);
}

// The process that has locked the directory; 0 if it is this process or unknown.
pid_t holder_of(std::string_view directory) {
  const int file = ::open((std::string{directory} + "/LOCK").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return 0;
  struct flock ask {};
  ask.l_type = F_WRLCK;
  ask.l_whence = SEEK_SET;
  const bool known = ::fcntl(file, F_GETLK, &ask) == 0 && ask.l_type != F_UNLCK;
  ::close(file);
  return known ? ask.l_pid : 0;
}

}  // namespace

error translate(const rocksdb::Status& status, std::string_view action,
                std::string_view directory) {
  if (is_lock(status)) {
    // Only if another process has the lock: closing the file would release our own.
    const bool other = status.ToString().find("lock hold") == std::string::npos;
    const auto holder = other ? holder_of(directory) : 0;
    return {errc::locked,
            fmt::format("the data directory {} is in use by {}; stop it, or choose another "
                        "directory",
                        directory,
                        holder != 0 ? fmt::format("process {}", holder)
                                    : std::string{other ? "another process" : "this process"})};
  }
  if (status.IsNoSpace() || status.subcode() == rocksdb::Status::kNoSpace)
    return {errc::no_space,
            fmt::format("cannot {} in {}: no space left on the device; free some, the store "
                        "carries on by itself",
                        action, directory)};
  if (status.IsCorruption())
    return {errc::corrupt, fmt::format("cannot {} in {}: the data is damaged ({}); {}", action,
                                       directory, status.ToString(), defaults::damage_remedy)};
  return {errc::io, fmt::format("cannot {} in {}: {}", action, directory, status.ToString())};
}

}  // namespace troupe::persistence
