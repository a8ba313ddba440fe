// When a machine is measured, and the figures for each request: the test drives the clock.
#include "actors/kubelet/usage/usage_meter.hpp"

#include <catch2/catch.hpp>

#include "actors/kubelet/defaults.hpp"
#include "runtime/actor_system.hpp"
#include "runtime/simulation.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;

namespace {

struct measured_machine {
  measured_machine() {
    meter = world.system().spawn(
        {.kind = usage_meter_kind, .name = "n"},
        runtime::make<usage_meter>(usage_reader{[this](std::function<void(usage_reading)> done) {
          ++readings;
          if (silent) return unanswered.push_back(std::move(done));
          done(reading());
        }}));
    world.settle();
  }

  // Half a processor, from the start.
  usage_reading reading() {
    const auto at = world.system().time().now().time_since_epoch();
    return {.machine = usage_counters{at, static_cast<std::uint64_t>(at.count()) / 2, 7}};
  }
  void ask() {
    world.system().request<node_usage>(meter, measure_usage{}, 30s, [this](const auto& usage) {
      REQUIRE(usage.has_value());
      answers.push_back(**usage);
    });
    world.settle();
  }

  runtime::simulation world{1};
  runtime::actor_ref meter;
  int readings = 0;
  bool silent = false;
  std::vector<std::function<void(usage_reading)>> unanswered;
  std::vector<node_usage> answers;
};

}  // namespace

TEST_CASE("nothing is measured while there are no requests", "[kubelet]") {
  measured_machine t;
  t.world.advance(1h);
  CHECK(t.readings == 0);
  t.ask();
  t.world.advance(1h);
  CHECK(t.readings == 2);
}

TEST_CASE("the first request waits for two readings, concurrent requests get the same result",
          "[kubelet]") {
  measured_machine t;
  t.ask();
  t.ask();
  CHECK(t.readings == 1);
  CHECK(t.answers.empty());
  t.world.advance(kubelet_defaults::usage_first_window);
  CHECK(t.readings == 2);
  REQUIRE(t.answers.size() == 2);
  for (const auto& each : t.answers) {
    REQUIRE(each.machine);
    CHECK(each.problem.empty());
    CHECK(each.machine->cpu_nano == 500'000'000);
    CHECK(each.machine->memory_bytes == 7);
    CHECK(each.machine->window == kubelet_defaults::usage_first_window);
  }
}

TEST_CASE("usage figures are reused for a while, and carry their time", "[kubelet]") {
  measured_machine t;
  t.ask();
  t.world.advance(kubelet_defaults::usage_first_window + 3s);
  t.ask();
  CHECK(t.readings == 2);
  REQUIRE(t.answers.size() == 2);
  CHECK(t.answers[1].age == 3s);
  // Then one more reading is enough.
  t.world.advance(kubelet_defaults::usage_fresh);
  t.ask();
  CHECK(t.readings == 3);
  REQUIRE(t.answers.size() == 3);
  CHECK(t.answers[2].age == 0s);
  CHECK(t.answers[2].machine->window == kubelet_defaults::usage_fresh + 3s);
}

TEST_CASE("an old reading is not the start of a rate", "[kubelet]") {
  measured_machine t;
  t.ask();
  t.world.advance(kubelet_defaults::usage_first_window + kubelet_defaults::usage_longest_window +
                  1s);
  t.ask();
  CHECK(t.answers.size() == 1);
  t.world.advance(kubelet_defaults::usage_first_window);
  REQUIRE(t.answers.size() == 2);
  CHECK(t.answers[1].machine->window == kubelet_defaults::usage_first_window);
}

TEST_CASE("a reading that does not arrive times out, and a late one is ignored", "[kubelet]") {
  measured_machine t;
  t.silent = true;
  t.ask();
  t.world.advance(kubelet_defaults::usage_check_limit);
  REQUIRE(t.answers.size() == 1);
  CHECK(t.answers[0].problem == "the machine could not be measured in time");
  t.silent = false;
  t.unanswered.at(0)(t.reading());
  t.world.settle();
  t.ask();
  CHECK(t.answers.size() == 1);
  t.world.advance(kubelet_defaults::usage_first_window);
  REQUIRE(t.answers.size() == 2);
  CHECK(t.answers[1].machine);
}

TEST_CASE("usage requests beyond the limit of pending ones are refused", "[kubelet]") {
  measured_machine t;
  for (std::size_t i = 0; i <= kubelet_defaults::usage_askers; ++i)
    t.ask();
  REQUIRE(t.answers.size() == 1);
  CHECK(t.answers[0].problem == "too many pending requests for usage");
  t.world.advance(kubelet_defaults::usage_first_window);
  CHECK(t.answers.size() == kubelet_defaults::usage_askers + 1);
}

TEST_CASE("a meter that crashed measures again", "[kubelet]") {
  measured_machine t;
  t.ask();
  t.world.advance(kubelet_defaults::usage_first_window);
  t.world.system().kill(t.meter, "a test");
  t.world.advance(1s);
  t.ask();
  t.world.advance(kubelet_defaults::usage_first_window);
  REQUIRE(t.answers.size() == 2);
  CHECK(t.answers[1].machine->window == kubelet_defaults::usage_first_window);
}

}  // namespace troupe::actors
