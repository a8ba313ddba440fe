// The rules of waiting, on a clock that only the test advances.
#include "tools/client/wait.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "tools/manual_clock.hpp"

namespace troupe::tools::wait {
namespace {

using namespace std::chrono_literals;

using reason = failure_reason;

condition never(int& looks) {
  return [&looks]() -> tl::expected<bool, std::string> { return ++looks < 0; };
}

condition at_look(int& looks, int number) {
  return [&looks, number]() -> tl::expected<bool, std::string> { return ++looks == number; };
}

}  // namespace

TEST_CASE("a poll checks after each interval, and once more at the time-out") {
  manual_clock clock;
  int looks = 0;
  const auto done = poll(clock, {10ms, 35ms}, never(looks));
  REQUIRE_FALSE(done);
  CHECK(done.error().reason == reason::timed_out);
  CHECK(looks == 4);  // at 10, 20, 30 and, after the last tick, 35
  CHECK(clock.passed() == 35ms);
}

TEST_CASE("a condition that becomes true between the last tick and the end counts") {
  manual_clock clock;
  const auto done = poll(clock, {10ms, 35ms}, [&]() -> tl::expected<bool, std::string> {
    return clock.passed() > 30ms;
  });
  CHECK(done);
}

TEST_CASE("an immediate poll checks before it waits") {
  manual_clock clock;
  int looks = 0;
  CHECK(poll(clock, {10ms, 0ms, true}, at_look(looks, 1)));
  CHECK(clock.passed() == 0ms);
}

TEST_CASE("no time-out is for ever") {
  manual_clock clock;
  int looks = 0;
  CHECK(poll(clock, {10ms, 0ms}, at_look(looks, 100'000)));
  CHECK(clock.passed() == 1'000s);
}

TEST_CASE("an interval longer than the time-out still checks once") {
  manual_clock clock;
  int looks = 0;
  CHECK(poll(clock, {10s, 1s}, at_look(looks, 1)));
  CHECK(clock.passed() == 1s);
}

TEST_CASE("an error of the condition ends the wait, with its words") {
  manual_clock clock;
  int looks = 0;
  const auto done = poll(clock, {10ms, 1s}, [&]() -> tl::expected<bool, std::string> {
    if (++looks == 3) return tl::make_unexpected("the disk is gone");
    return false;
  });
  REQUIRE_FALSE(done);
  CHECK(done.error().reason == reason::condition_failed);
  CHECK(done.error().message == "the disk is gone");
  CHECK(looks == 3);
}

TEST_CASE("an interrupt ends the wait without another check") {
  manual_clock clock;
  clock.interrupt_after(25ms);
  int looks = 0;
  const auto done = poll(clock, {10ms, 1s}, never(looks));
  REQUIRE_FALSE(done);
  CHECK(done.error().reason == reason::interrupted);
  CHECK(looks == 2);
}

TEST_CASE("a condition that takes longer than the interval is asked again at once, but only once") {
  manual_clock clock;
  std::vector<duration> at;
  const auto done = poll(clock, {10ms, 100ms}, [&]() -> tl::expected<bool, std::string> {
    at.push_back(clock.passed());
    clock.advance(25ms);
    return false;
  });
  REQUIRE_FALSE(done);
  CHECK(at == std::vector<duration>{10ms, 35ms, 60ms, 85ms, 110ms});
}

TEST_CASE("ticks may come from any source, and their end causes the last check") {
  std::vector<tick> coming{tick::next, tick::next, tick::ended};
  std::size_t given = 0;
  int looks = 0;
  const auto done = wait_for([&] { return coming[given++]; }, never(looks));
  REQUIRE_FALSE(done);
  CHECK(done.error().reason == reason::timed_out);
  CHECK(looks == 3);
}

TEST_CASE("jitter adds up to its factor and takes nothing away") {
  std::mt19937_64 random{7};
  duration least = 1h, most{0};
  for (int i = 0; i < 10'000; ++i) {
    const auto got = jitter(1000ms, 0.5, random);
    least = std::min(least, got);
    most = std::max(most, got);
  }
  CHECK(least >= 1000ms);
  CHECK(least < 1010ms);
  CHECK(most <= 1500ms);
  CHECK(most > 1490ms);
}

}  // namespace troupe::tools::wait
