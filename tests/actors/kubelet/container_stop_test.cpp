// The stop sequence of a container, with the clock driven by the test.
#include "actors/kubelet/pods/container_stop.hpp"

#include <catch2/catch.hpp>
#include <random>

namespace troupe::actors {

using namespace std::chrono_literals;

namespace {

runtime::time_point at(runtime::duration since) {
  return runtime::time_point{} + 1h + since;
}

}  // namespace

TEST_CASE("SIGTERM comes first, SIGKILL when the grace period is over, and again", "[kubelet]") {
  container_stop stop;
  CHECK(stop.begin(at(0s), 30s, false) == stop_step::terminate);
  CHECK(stop.deadline() == at(30s));
  CHECK(stop.check(at(29s)) == stop_step::wait);
  CHECK(stop.check(at(30s)) == stop_step::kill);
  CHECK(stop.check(at(30s)) == stop_step::wait);
  CHECK(stop.check(at(31s)) == stop_step::kill);
}

TEST_CASE("a preStop hook is counted in the grace period", "[kubelet]") {
  container_stop stop;
  CHECK(stop.begin(at(0s), 30s, true) == stop_step::run_hook);
  CHECK(stop.hook_done(at(10s)) == stop_step::terminate);
  CHECK(stop.check(at(29s)) == stop_step::wait);
  CHECK(stop.check(at(30s)) == stop_step::kill);
}

TEST_CASE("a hook that takes all the time leaves two seconds for SIGTERM", "[kubelet]") {
  container_stop stop;
  CHECK(stop.begin(at(0s), 5s, true) == stop_step::run_hook);
  CHECK(stop.check(at(5s)) == stop_step::terminate);
  CHECK(stop.hook_done(at(6s)) == stop_step::wait);
  CHECK(stop.check(at(6s)) == stop_step::wait);
  CHECK(stop.check(at(7s)) == stop_step::kill);
}

TEST_CASE("SIGTERM that was not sent is repeated while there is time", "[kubelet]") {
  container_stop stop;
  CHECK(stop.begin(at(0s), 30s, false) == stop_step::terminate);
  stop.failed(at(0s));
  CHECK(stop.next_check() == at(1s));
  CHECK(stop.check(at(0s)) == stop_step::wait);
  CHECK(stop.check(at(1s)) == stop_step::terminate);
  CHECK(stop.next_check() == at(30s));
  CHECK(stop.check(at(2s)) == stop_step::wait);
  stop.failed(at(29s));
  CHECK(stop.check(at(30s)) == stop_step::kill);
  stop.failed(at(30s));
  CHECK(stop.check(at(30s)) == stop_step::wait);
  CHECK(stop.check(at(31s)) == stop_step::kill);
  container_stop at_once;
  CHECK(at_once.begin(at(0s), 30s, false) == stop_step::terminate);
  at_once.failed(at(0s));
  CHECK(at_once.begin(at(0s), 0s, false) == stop_step::kill);
  CHECK(at_once.next_check() == at_once.deadline());
}

TEST_CASE("a shorter grace period counts, a longer one does not", "[kubelet]") {
  container_stop stop;
  CHECK(stop.begin(at(0s), 30s, false) == stop_step::terminate);
  CHECK(stop.begin(at(1s), 60s, false) == stop_step::wait);
  CHECK(stop.deadline() == at(30s));
  CHECK(stop.begin(at(2s), 5s, false) == stop_step::wait);
  CHECK(stop.deadline() == at(7s));
  CHECK(stop.begin(at(3s), 0s, false) == stop_step::kill);
}

TEST_CASE("SIGKILL always comes within the first grace period and the hook's extra time",
          "[kubelet]") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    std::mt19937_64 random{seed};
    container_stop stop;
    const auto grace = std::chrono::seconds{1 + random() % 30};
    bool terminated = false, killed = false;
    const auto note = [&](stop_step step) {
      // SIGTERM at most once, and never after SIGKILL.
      if (step == stop_step::terminate) {
        CHECK_FALSE(terminated);
        CHECK_FALSE(killed);
        terminated = true;
      }
      killed |= step == stop_step::kill;
    };
    note(stop.begin(at(0s), grace, random() % 2 == 0));
    for (auto now = 0s; now <= grace + 2s; now += 1s) {
      if (random() % 5 == 0) note(stop.begin(at(now), grace + 1s, true));
      if (random() % 5 == 0) note(stop.hook_done(at(now)));
      note(stop.check(at(now)));
    }
    CAPTURE(seed);
    CHECK(killed);
  }
}

}  // namespace troupe::actors
