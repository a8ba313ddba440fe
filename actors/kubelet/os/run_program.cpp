#include "actors/kubelet/os/run_program.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "actors/kubelet/os/child_process.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {
namespace {

// Maximum size of the output that is kept.
constexpr std::size_t message_bytes = 500;
// How long a killed program may take to end: one in the kernel may have to wait for a device or a
// lock, without a bound.
constexpr std::chrono::milliseconds end_limit{2'000};
// Interval of the checks of a process without a descriptor.
constexpr std::chrono::milliseconds check_period{10};

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

std::string beginning(int fd, std::size_t bytes) {
  std::string text(bytes, '\0');
  const auto size = ::pread(fd, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

std::string first_line(int fd) {
  const auto text = beginning(fd, message_bytes);
  return text.substr(0, text.find('\n'));
}

// Waits for the end of a child, with its descriptor if there is one. Nothing: not in time.
std::optional<int> status_within(pid_t pid, int descriptor, std::chrono::milliseconds limit) {
  using std::chrono::steady_clock;
  const auto end = steady_clock::now() + limit;
  for (;;) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) != 0) return status;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    if (descriptor < 0) left = std::min(left, check_period);
    pollfd ended{descriptor, POLLIN, 0};
    ::poll(&ended, 1, static_cast<int>(left.count()));
  }
}

// Killed processes that have not ended, each with the name of its program. Their number is bounded
// by the runs at the same time, because later ones are refused.
class unended_processes {
 public:
  bool has(const std::string& name) {
    const std::lock_guard guard{mutex_};
    std::erase_if(all_,
                  [](const auto& each) { return ::waitpid(each.second, nullptr, WNOHANG) != 0; });
    return std::any_of(all_.begin(), all_.end(),
                       [&](const auto& each) { return each.first == name; });
  }
  void add(const std::string& name, pid_t pid) {
    const std::lock_guard guard{mutex_};
    all_.emplace_back(name, pid);
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::string, pid_t>> all_;
};

// Returns the file with the program's output.
tl::expected<runtime::unique_fd, std::string> run(const std::string& name,
                                                  const std::vector<std::string>& command,
                                                  const std::string& input,
                                                  std::chrono::milliseconds limit, pid_t* started) {
  static unended_processes unended;
  if (unended.has(name))
    return tl::make_unexpected(name + ": an earlier process that was killed has not ended");
  const auto in = memory_file(input);
  auto out = memory_file({});
  if (!in || !out)
    return tl::make_unexpected(fmt::format("{}: no memory: {}", name, std::strerror(errno)));
  const auto pid = spawn_program(command, {{in.get(), 0}, {out.get(), 1}, {out.get(), 2}});
  if (!pid) return tl::make_unexpected(pid.error());
  if (started) *started = *pid;
  const runtime::unique_fd process{static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0))};
  const auto status = status_within(*pid, process.get(), limit);
  if (!status) {
    ::kill(*pid, SIGKILL);
    if (!status_within(*pid, process.get(), end_limit)) unended.add(name, *pid);
    return tl::make_unexpected(fmt::format("{} took longer than {} ms", name, limit.count()));
  }
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0)
    return tl::expected<runtime::unique_fd, std::string>{std::move(out)};
  const auto message = first_line(out.get());
  if (message.empty())
    return tl::make_unexpected(fmt::format("{} ended with status {}", name, *status));
  return tl::make_unexpected(message.starts_with(name + ":") ? message : name + ": " + message);
}

}  // namespace

tl::expected<void, std::string> run_program(const std::string& name,
                                            const std::vector<std::string>& command,
                                            const std::string& input,
                                            std::chrono::milliseconds limit, pid_t* started) {
  const auto done = run(name, command, input, limit, started);
  if (!done) return tl::make_unexpected(done.error());
  return {};
}

tl::expected<std::string, std::string> output_of_program(const std::string& name,
                                                         const std::vector<std::string>& command,
                                                         const std::string& input,
                                                         std::chrono::milliseconds limit,
                                                         std::size_t most_bytes) {
  const auto done = run(name, command, input, limit, nullptr);
  if (!done) return tl::make_unexpected(done.error());
  return beginning(done->get(), most_bytes);
}

}  // namespace troupe::actors
