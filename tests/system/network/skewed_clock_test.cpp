// The clock that is preloaded into programs, here called directly.
#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "build_paths.hpp"
#include "clock/clock_file.hpp"
#include "support/scratch_folder.hpp"

using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

// Bounds a wait that would last as long as the clock was stepped.
constexpr std::chrono::milliseconds skewed_wait_limit{60'000};

// The library's functions, with the clock in this file.
struct skewed_functions {
  explicit skewed_functions(const std::string& file) {
    ::setenv("SKEW_FILE", file.c_str(), 1);
    library = ::dlopen(TROUPE_BINARY_DIR "/skewed_clock.so", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    clock = reinterpret_cast<int (*)(clockid_t, timespec*)>(::dlsym(library, "clock_gettime"));
    call = reinterpret_cast<long (*)(long, ...)>(::dlsym(library, "syscall"));
    read(CLOCK_REALTIME);  // opens the file
    ::unsetenv("SKEW_FILE");
  }

  timespec read(clockid_t id) const {
    timespec now{};
    clock(id, &now);
    return now;
  }
  // How much the library's clock is ahead of the system's, in seconds.
  long ahead(clockid_t id) const {
    timespec real{};
    ::syscall(SYS_clock_gettime, id, &real);
    return read(id).tv_sec - real.tv_sec;
  }

  void* library = nullptr;
  int (*clock)(clockid_t, timespec*) = nullptr;
  long (*call)(long, ...) = nullptr;
};

// Whether a wait until this time of the library's clock ends by itself.
bool wait_ends(const skewed_functions& with, timespec until) {
  std::atomic<int> word{0};
  static_assert(sizeof word == sizeof(int));
  std::mutex mutex;
  std::condition_variable_any ended;
  const std::jthread guard{[&](const std::stop_token& stop) {
    std::unique_lock lock{mutex};
    if (ended.wait_for(lock, stop, skewed_wait_limit, [] { return false; })) return;
    if (stop.stop_requested()) return;
    word = 1;
    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }};
  with.call(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 0, &until, nullptr,
            FUTEX_BITSET_MATCH_ANY);
  return word == 0;
}

}  // namespace

TEST_CASE("a program's clock is stepped while it runs, but not its monotonic clock", "[clock]") {
  const scratch_folder folder;
  const auto file = folder.path() / "clock";
  clock_file clock{file};
  const skewed_functions with{file.string()};
  CHECK(std::labs(with.ahead(CLOCK_REALTIME)) <= 1);
  for (const auto skew : {3'600s, -3'600s, 0s}) {
    const auto before = with.read(CLOCK_REALTIME);
    clock.skew(skew);
    CHECK(std::labs(with.ahead(CLOCK_REALTIME) - skew.count()) <= 1);
    CHECK(std::labs(with.ahead(CLOCK_MONOTONIC)) <= 1);
    // A wait until a time from before the step, and one from after it.
    CHECK(wait_ends(with, {before.tv_sec + 1, before.tv_nsec}));
    const auto now = with.read(CLOCK_REALTIME);
    CHECK(wait_ends(with, {now.tv_sec + 1, now.tv_nsec}));
  }
}
