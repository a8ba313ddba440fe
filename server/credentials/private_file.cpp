#include "server/credentials/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "runtime/unique_fd.hpp"

namespace troupe::server {
namespace {

namespace fs = std::filesystem;

tl::unexpected<std::string> failed(const char* action, const fs::path& path) {
  return tl::make_unexpected(std::string("cannot ") + action + " " + path.string() + ": " +
                             std::strerror(errno));
}

bool write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(to, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

tl::expected<void, std::string> make_private_directory(const fs::path& path) {
  std::error_code problem;
  fs::create_directories(path, problem);
  if (problem)
    return tl::make_unexpected("cannot make the directory " + path.string() + ": " +
                               problem.message());
  if (::chmod(path.c_str(), 0700) != 0) return failed("restrict the access to", path);
  return {};
}

tl::expected<void, std::string> write_private_file(const fs::path& path, std::string_view text,
                                                   durability kept) {
  const fs::path temporary = path.string() + ".new";
  ::unlink(temporary.c_str());
  {
    const runtime::unique_fd file{
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (!file || !write_all(file.get(), text)) return failed("write", temporary);
    if (kept == durability::lasting && ::fsync(file.get()) != 0) return failed("write", temporary);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return failed("write", path);
  if (kept == durability::replaceable) return {};
  const runtime::unique_fd directory{
      ::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (directory) ::fsync(directory.get());
  return {};
}

tl::expected<std::optional<std::string>, std::string> read_private_file(const fs::path& path) {
  const runtime::unique_fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) {
    if (errno == ENOENT) return std::optional<std::string>{};
    return failed("read", path);
  }
  struct stat state {};
  if (::fstat(file.get(), &state) == 0 && (state.st_mode & 0077) != 0 &&
      ::fchmod(file.get(), 0600) != 0)
    return failed("restrict the access to", path);
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const auto got = ::read(file.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read", path);
    if (got == 0) return std::optional<std::string>{std::move(text)};
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace troupe::server
