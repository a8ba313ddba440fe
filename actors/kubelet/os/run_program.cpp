#include "actors/kubelet/os/run_program.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "actors/kubelet/os/child_process.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {
namespace {

// Maximum size of the output that is kept.
constexpr std::size_t message_bytes = 500;

// A file in memory, so a child that does not read or writes without end never blocks us.
runtime::unique_fd memory_file(const std::string& content) {
  runtime::unique_fd fd{::memfd_create("troupe", MFD_CLOEXEC)};
  std::size_t written = 0;
  while (fd && written < content.size()) {
    const auto size = ::write(fd.get(), content.data() + written, content.size() - written);
    if (size <= 0) return {};
    written += static_cast<std::size_t>(size);
  }
  if (fd) ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

std::string first_line(int fd) {
  std::string text(message_bytes, '\0');
  const auto size = ::pread(fd, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text.substr(0, text.find('\n'));
}

}  // namespace

tl::expected<void, std::string> run_program(const std::string& name,
                                            const std::vector<std::string>& command,
                                            const std::string& input,
                                            std::chrono::milliseconds limit, pid_t* started) {
  const auto in = memory_file(input), out = memory_file({});
  if (!in || !out)
    return tl::make_unexpected(fmt::format("{}: no memory: {}", name, std::strerror(errno)));
  const auto pid = spawn_program(command, {{in.get(), 0}, {out.get(), 1}, {out.get(), 2}});
  if (!pid) return tl::make_unexpected(pid.error());
  if (started) *started = *pid;
  const runtime::unique_fd process{static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0))};
  pollfd ended{process.get(), POLLIN, 0};
  const bool in_time = process && ::poll(&ended, 1, static_cast<int>(limit.count())) == 1;
  if (!in_time) ::kill(*pid, SIGKILL);
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time)
    return tl::make_unexpected(fmt::format("{} took longer than {} ms", name, limit.count()));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const auto message = first_line(out.get());
  if (message.empty())
    return tl::make_unexpected(fmt::format("{} ended with status {}", name, status));
  return tl::make_unexpected(message.starts_with(name + ":") ? message : name + ": " + message);
}

}  // namespace troupe::actors
