#include "actors/kubelet/os/safe_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

namespace troupe::actors {

namespace {

int open2(int directory, const char* path, int flags, mode_t mode, std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.mode = mode;
  how.resolve = resolve;
  return static_cast<int>(::syscall(SYS_openat2, directory, path, &how, sizeof how));
}

tl::unexpected<std::string> failure(const char* action, const std::string& path) {
  return tl::make_unexpected(fmt::format("cannot {} {}: {}", action, path, std::strerror(errno)));
}

// Names in a directory except "." and "..", at most `most`.
std::vector<std::string> names_in(int directory, std::size_t most = SIZE_MAX) {
  std::vector<std::string> names;
  const int copy = ::dup(directory);
  DIR* entries = copy >= 0 ? ::fdopendir(copy) : nullptr;
  if (entries == nullptr) {
    if (copy >= 0) ::close(copy);
    return names;
  }
  while (const dirent* entry = names.size() < most ? ::readdir(entries) : nullptr) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  ::closedir(entries);
  return names;
}

constexpr auto strict = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;

// Each level of a tree needs an open descriptor; deeper trees are not removed.
constexpr int deepest = 200;

bool empty_directory(const runtime::unique_fd& directory, int depth) {
  if (depth > deepest) return false;
  bool all = true;
  for (const auto& name : names_in(directory.get())) {
    if (::unlinkat(directory.get(), name.c_str(), 0) == 0) continue;
    const runtime::unique_fd inner{
        open2(directory.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, strict)};
    all = inner && empty_directory(inner, depth + 1) &&
          ::unlinkat(directory.get(), name.c_str(), AT_REMOVEDIR) == 0 && all;
  }
  return all;
}

disk_usage usage(const runtime::unique_fd& directory, int depth, std::size_t& left) {
  disk_usage all;
  if (depth > deepest) return all;
  const auto names = names_in(directory.get(), left);
  left -= names.size();
  for (const auto& name : names) {
    // Fails at a mount point without access to the mounted file system, which may not answer.
    const runtime::unique_fd entry{
        open2(directory.get(), name.c_str(), O_PATH | O_NOFOLLOW, 0, strict)};
    struct stat info {};
    if (!entry || ::fstat(entry.get(), &info) != 0) continue;
    const auto own = static_cast<std::int64_t>(info.st_blocks) * 512;  // in units of 512 bytes
    ++all.files;
    all.bytes += S_ISREG(info.st_mode)
                     ? own / std::max<std::int64_t>(static_cast<std::int64_t>(info.st_nlink), 1)
                     : own;
    if (!S_ISDIR(info.st_mode)) continue;
    const runtime::unique_fd inner{
        open2(directory.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, strict)};
    if (inner) all += usage(inner, depth + 1, left);
  }
  return all;
}

}  // namespace

disk_usage usage_beneath(const std::filesystem::path& path, std::size_t most) {
  const auto directory = open_directory(path);
  return directory ? usage(*directory, 0, most) : disk_usage{};
}

tl::expected<runtime::unique_fd, std::string> open_directory(const std::filesystem::path& path) {
  runtime::unique_fd fd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!fd) return failure("open", path.string());
  return fd;
}

tl::expected<runtime::unique_fd, std::string> open_beneath(const runtime::unique_fd& directory,
                                                           const std::string& path, int flags,
                                                           mode_t mode, bool links) {
  const std::uint64_t resolve =
      RESOLVE_BENEATH | (links ? RESOLVE_NO_MAGICLINKS : RESOLVE_NO_SYMLINKS);
  runtime::unique_fd fd{
      open2(directory.get(), path.empty() ? "." : path.c_str(), flags, mode, resolve)};
  if (!fd) return failure("open", path);
  return fd;
}

tl::expected<runtime::unique_fd, std::string> make_beneath(const runtime::unique_fd& directory,
                                                           const std::string& path, mode_t mode,
                                                           bool links) {
  auto at = open_beneath(directory, {}, O_RDONLY | O_DIRECTORY);
  std::string done;
  for (const auto& step : std::filesystem::path{path}) {
    if (!at) return at;
    if (step.empty() || step == ".") continue;
    done += (done.empty() ? "" : "/") + step.string();
    const bool made = ::mkdirat(at->get(), step.c_str(), mode) == 0;
    if (!made && errno != EEXIST) return failure("make", done);
    // Opened from the top each time: a link may lead up again, as long as it stays below.
    auto next = open_beneath(directory, done, O_RDONLY | O_DIRECTORY, 0, links);
    if (made && next) ::fchmod(next->get(), mode);  // independent of the umask
    at = std::move(next);
  }
  return at;
}

bool remove_tree(const std::filesystem::path& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return true;
  const runtime::unique_fd directory{
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  return directory && empty_directory(directory, 0) && ::rmdir(path.c_str()) == 0;
}

}  // namespace troupe::actors
