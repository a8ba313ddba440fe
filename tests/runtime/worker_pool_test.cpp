#include "runtime/worker_pool.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>

#include "runtime_support.hpp"

namespace troupe::runtime {

using test::log_of;

TEST_CASE("a pool runs every posted job, despite exceptions, and those pending at its end",
          "[runtime]") {
  log_of<int> done;
  {
    worker_pool pool{"jobs", 2, 1'000};
    for (int i = 0; i < 500; ++i) {
      REQUIRE(pool.post([&, i] {
        done.add(i);
        if (i % 100 == 0) throw std::runtime_error{"a bad job"};
      }));
    }
  }
  CHECK(done.size() == 500);
}

TEST_CASE("a full queue refuses a job", "[runtime]") {
  std::mutex gate;
  std::unique_lock closed{gate};
  log_of<int> entered;
  worker_pool pool{"jobs", 1, 2};
  const auto job = [&] {
    entered.add(1);
    std::lock_guard wait{gate};
  };
  CHECK(pool.post(job));
  REQUIRE(entered.await(1));
  CHECK(pool.post(job));
  CHECK(pool.post(job));
  CHECK(pool.queued() == 2);
  CHECK_FALSE(pool.post(job));
  closed.unlock();
  CHECK(entered.await(3));
}

// Memory for the stacks of a few threads only, in a process of its own.
TEST_CASE("a pool that cannot have all its threads works with those that it has", "[runtime]") {
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Larger than cached stacks of ended threads.
    pthread_attr_t large;
    ::pthread_attr_init(&large);
    ::pthread_attr_setstacksize(&large, 64u << 20);
    const bool set = ::pthread_setattr_default_np(&large) == 0;
    std::ifstream file{"/proc/self/statm"};
    std::size_t pages = 0;
    file >> pages;
    const auto room = [&](std::size_t megabytes) {
      const auto now = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
      const rlimit limit{now + (megabytes << 20), RLIM_INFINITY};
      return set && ::setrlimit(RLIMIT_AS, &limit) == 0;
    };
    const auto works = [](std::size_t threads) {
      std::atomic<int> done{0};
      bool taken = true;
      {
        worker_pool pool{"jobs", threads, 10};
        for (int i = 0; i < 3; ++i)
          taken &= pool.post([&] { ++done; });
      }
      return taken && done == 3;
    };
    const bool none = room(32) && !works(8);
    const bool some = room(160) && works(8);
    const bool again = room(2'000) && works(8);
    ::_exit((some ? 0 : 1) + (none ? 0 : 2) + (again ? 0 : 4));
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK_FALSE(WIFSIGNALED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace troupe::runtime
