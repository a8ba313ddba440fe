#include "actors/kubelet/runtimes/process/shim_pump.hpp"

#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

#include <cerrno>
#include <utility>

#include "actors/kubelet/runtimes/process/defaults.hpp"

namespace troupe::actors {

namespace {

// Reads of the rest in both pipes at their maximum size.
constexpr int last_rounds = 2 * (1 << 20) / (16 << 10);
constexpr std::size_t own_descriptors = 3;

std::int64_t steady_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

shim_pump::shim_pump(runtime::unique_fd output, runtime::unique_fd error, const std::string& log,
                     const log_limits& limits, attach_server& attached)
    : attached_{attached},
      log_{log, limits},
      budget_{process_defaults::log_bytes_per_second},
      streams_{std::move(output), std::move(error)} {}

int shim_pump::run(pid_t main, int signals) {
  bool ended = false;
  int status = 0;
  // After the process has ended, a descendant may keep the pipes open and write forever.
  for (int rounds_left = last_rounds; (!ended || is_open()) && rounds_left > 0;) {
    const auto wait = ended ? 0 : budget_.wait_ms(steady_ms());
    waiting_.clear();
    for (const auto& each : streams_)
      waiting_.push_back({wait > 0 ? -1 : each.get(), POLLIN, 0});
    waiting_.push_back({signals, POLLIN, 0});
    // After the end, only read the rest in the pipes.
    if (!ended) attached_.watch(waiting_);
    const int patience = ended ? 0 : wait > 0 ? static_cast<int>(wait) : -1;
    const int ready = ::poll(waiting_.data(), waiting_.size(), patience);
    if (ended && (--rounds_left, ready <= 0)) break;
    if (!ended) attached_.serve(std::span{waiting_}.subspan(own_descriptors));
    for (std::size_t i = 0; i < streams_.size(); ++i)
      if (waiting_[i].revents != 0) drain(i);
    if (waiting_[2].revents == 0) continue;
    signalfd_siginfo info;
    static_cast<void>(!::read(signals, &info, sizeof info));
    int code = 0;
    for (pid_t gone; (gone = ::waitpid(-1, &code, WNOHANG)) > 0;)
      if (gone == main) ended = true, status = code;
  }
  log_.finish("stdout");
  log_.finish("stderr");
  return status;
}

void shim_pump::drain(std::size_t stream) {
  const auto n = ::read(streams_[stream].get(), buffer_.data(), buffer_.size());
  if (n > 0) {
    const std::string_view bytes{buffer_.data(), static_cast<std::size_t>(n)};
    const auto before = log_.written();
    log_.take(stream == 0 ? "stdout" : "stderr", bytes);
    budget_.take(log_.written() - before);
    attached_.publish(stream == 0 ? attach_packet::output : attach_packet::error, bytes);
  } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
    streams_[stream].reset();
  }
}

}  // namespace troupe::actors
