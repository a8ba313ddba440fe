#include "tools/node/stop_signals.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace troupe::tools {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// True for a program that nohup started: it outlives its terminal.
bool is_hangup_ignored() {
  struct sigaction current {};
  return ::sigaction(SIGHUP, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

sigset_t watched() {
  sigset_t result;
  sigemptyset(&result);
  for (const int signal : {SIGTERM, SIGINT})
    sigaddset(&result, signal);
  if (!is_hangup_ignored()) sigaddset(&result, SIGHUP);
  return result;
}

runtime::unique_fd checked(int fd, const char* function) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), function);
  return runtime::unique_fd{fd};
}

// Writes directly to the descriptor: other threads may hang in any place.
[[noreturn]] void end_at_once(int code, const std::string& reason) {
  const auto line = "troupe: " + reason + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(code);
}

}  // namespace

stop_signals::stop_signals(milliseconds limit) : limit_(limit) {
  const auto set = watched();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = checked(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
  finished_ = checked(::eventfd(0, EFD_CLOEXEC), "eventfd");
  watcher_ = std::thread([this] { watch(); });
}

stop_signals::~stop_signals() {
  ::eventfd_write(finished_.get(), 1);
  watcher_.join();
}

int stop_signals::wait() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return first_ != 0; });
  return first_;
}

void stop_signals::end() {
  if (!end_requested_.exchange(true)) ::kill(::getpid(), SIGTERM);
}

bool stop_signals::wait_until(steady_clock::time_point then) {
  std::unique_lock lock(mutex_);
  return arrived_.wait_until(lock, then, [this] { return first_ != 0; });
}

int stop_signals::poll_timeout_ms() const {
  if (deadline_ == steady_clock::time_point{}) return -1;
  const auto left = std::chrono::ceil<milliseconds>(deadline_ - steady_clock::now());
  return static_cast<int>(std::max<milliseconds::rep>(left.count(), 0));
}

void stop_signals::watch() {
  ::pthread_setname_np(::pthread_self(), "stop signals");
  for (;;) {
    std::array<pollfd, 2> ready{{{finished_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}}};
    const int count = ::poll(ready.data(), ready.size(), poll_timeout_ms());
    if (count < 0) continue;
    if (count == 0)
      end_at_once(1, fmt::format("did not end within {} ms, exiting", limit_.count()));
    if (ready[0].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) != sizeof info) continue;
    const int signal = static_cast<int>(info.ssi_signo);
    const std::lock_guard lock(mutex_);
    if (first_ != 0) end_at_once(128 + signal, "stops at once");
    first_ = signal;
    deadline_ = steady_clock::now() + limit_;
    arrived_.notify_all();
  }
}

}  // namespace troupe::tools
