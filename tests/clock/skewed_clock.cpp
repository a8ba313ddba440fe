// Preloaded (LD_PRELOAD), it shifts a program's clock by SKEW_SECONDS. Debian's libfaketime would
// do the same, but not with an allocator that reads the time at its start.
#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>

namespace {

time_t skew() {
  const char* seconds = ::getenv("SKEW_SECONDS");
  return seconds == nullptr ? 0 : std::atol(seconds);
}

}  // namespace

extern "C" {

// A wait until a time of that clock (absl's, so gRPC's) ends by the system's clock.
long syscall(long number, ...) noexcept {
  using function = long (*)(long, ...);
  static const auto real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "syscall"));
  va_list list;
  va_start(list, number);
  long given[6];
  for (auto& each : given)
    each = va_arg(list, long);
  va_end(list);
  timespec until{};
  if (number == SYS_futex && (given[1] & FUTEX_CLOCK_REALTIME) != 0 && given[3] != 0) {
    until = *reinterpret_cast<const timespec*>(given[3]);
    until.tv_sec -= skew();
    given[3] = reinterpret_cast<long>(&until);
  }
  return real(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

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
