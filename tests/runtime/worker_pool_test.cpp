#include "runtime/worker_pool.hpp"

#include <catch2/catch.hpp>

#include "runtime_support.hpp"

namespace troupe::runtime {

using test::log_of;

TEST_CASE("a pool runs what was posted, also what throws, and what waits when it ends",
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

}  // namespace troupe::runtime
