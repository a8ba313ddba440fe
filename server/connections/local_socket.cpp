#include "server/connections/local_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "runtime/unique_fd.hpp"
#include "server/defaults.hpp"

namespace troupe::server {
namespace {

using socket_call = int (*)(int, const sockaddr*, socklen_t);

// Calls `function` with the address of the file, relative to a descriptor of its directory.
int with_address(int socket, const std::filesystem::path& file, socket_call function) {
  const auto parent = file.has_parent_path() ? file.parent_path() : std::filesystem::path{"."};
  const runtime::unique_fd folder{::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!folder) return -1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path =
      "/proc/self/fd/" + std::to_string(folder.get()) + "/" + file.filename().string();
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return function(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

tl::unexpected<std::string> failed(const char* action, const std::filesystem::path& file) {
  return tl::make_unexpected(std::string{action} + " " + file.string() + ": " +
                             std::strerror(errno));
}

}  // namespace

tl::expected<int, std::string> listen_at(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_socket(file, ignored)) std::filesystem::remove(file, ignored);
  runtime::unique_fd made{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  // Before the file exists: others must not be able to open it even for a moment.
  if (!made || ::fchmod(made.get(), S_IRUSR | S_IWUSR) != 0 ||
      with_address(made.get(), file, &::bind) != 0 ||
      ::listen(made.get(), defaults::listen_backlog) != 0)
    return failed("cannot listen at", file);
  return made.release();
}

tl::expected<int, std::string> connect_to(const std::filesystem::path& file) {
  runtime::unique_fd made{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!made || with_address(made.get(), file, &::connect) != 0)
    return failed("cannot connect to", file);
  return made.release();
}

}  // namespace troupe::server
