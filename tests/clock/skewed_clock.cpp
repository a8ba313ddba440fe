// Preloaded (LD_PRELOAD), it lets a program believe that it is SKEW_SECONDS later. Debian's
// libfaketime would do the same, but not with an allocator that asks for the time when it begins.
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

namespace {

time_t skew() {
  const char* seconds = ::getenv("SKEW_SECONDS");
  return seconds == nullptr ? 0 : std::atol(seconds);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t which, timespec* out) noexcept {
  const auto done = ::syscall(SYS_clock_gettime, which, out);
  if (done == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE))
    out->tv_sec += skew();
  return static_cast<int>(done);
}

time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(timeval* out, void*) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1'000;
  return 0;
}

}  // extern "C"
