// Preloaded (LD_PRELOAD), it shifts a program's clock by SKEW_SECONDS, or by the skew in the file
// SKEW_FILE, which may change meanwhile (clock_file.hpp). The monotonic clock is not shifted.
// Debian's libfaketime would do the same, but not with an allocator that reads the time at its
// start.
//
// A wait that has begun before a step keeps its length; one of the system's own clock would become
// longer or shorter by the step.
#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>

#include "clock/clock_file.hpp"

namespace {

using troupe::test::clock_page;
using clock_function = int (*)(clockid_t, timespec*);
using syscall_function = long (*)(long, ...);

// How long after a step a program may wait until a time that it has calculated before.
constexpr std::int64_t step_ms = 5'000;

// Not initialised on first use by C++: that would wait by syscall(), which is replaced here.
// Several threads may initialise them at once, with the same result.
constinit clock_page fixed_page;
constinit std::atomic<const clock_page*> known_page{nullptr};
constinit std::atomic<clock_function> known_clock{nullptr};
constinit std::atomic<syscall_function> known_syscall{nullptr};

const clock_page& page() {
  if (const auto* known = known_page.load()) return *known;
  const clock_page* found = &fixed_page;
  if (const char* path = ::getenv("SKEW_FILE")) {
    found = troupe::test::map_clock(path, false);
    if (found == nullptr) std::abort();
  } else if (const char* seconds = ::getenv("SKEW_SECONDS")) {
    fixed_page.skew_s = std::atol(seconds);
  }
  known_page = found;
  return *found;
}

template <class Function>
Function next(std::atomic<Function>& known, const char* name) {
  auto function = known.load(std::memory_order_relaxed);
  if (function == nullptr) {
    function = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
    known.store(function, std::memory_order_relaxed);
  }
  return function;
}

int read_clock(clockid_t clock, timespec* out) {
  return next(known_clock, "clock_gettime")(clock, out);
}

int read_shifted(clockid_t clock, timespec* out) {
  const auto done = read_clock(clock, out);
  if (done == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    out->tv_sec += page().skew_s.load(std::memory_order_relaxed);
  return done;
}

// The skew with which the end of a wait was calculated: just after a step the one before it, if the
// wait would otherwise be longer (or over earlier) by the step.
std::int64_t skew_of(const timespec& until) {
  const auto skew = page().skew_s.load(), before = page().before_s.load();
  timespec passed{}, now{};
  read_clock(CLOCK_MONOTONIC, &passed);
  if (passed.tv_sec * 1'000 + passed.tv_nsec / 1'000'000 - page().stepped_ms > step_ms) return skew;
  read_clock(CLOCK_REALTIME, &now);
  const auto length = until.tv_sec - now.tv_sec;
  return std::labs(length - skew) <= std::labs(length - before) ? skew : before;
}

}  // namespace

extern "C" {

// A wait until a time of that clock (absl's, so gRPC's) ends by the system's clock.
long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long given[6];
  for (auto& each : given)
    each = va_arg(list, long);
  va_end(list);
  timespec until{};
  if (number == SYS_futex && (given[1] & FUTEX_CLOCK_REALTIME) != 0 && given[3] != 0) {
    until = *reinterpret_cast<const timespec*>(given[3]);
    until.tv_sec -= skew_of(until);
    given[3] = reinterpret_cast<long>(&until);
  }
  return next(known_syscall, "syscall")(number, given[0], given[1], given[2], given[3], given[4],
                                        given[5]);
}

int clock_gettime(clockid_t clock, timespec* out) noexcept {
  return read_shifted(clock, out);
}

time_t time(time_t* out) noexcept {
  timespec now{};
  read_shifted(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(timeval* out, void*) noexcept {
  timespec now{};
  read_shifted(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1'000;
  return 0;
}

}  // extern "C"
