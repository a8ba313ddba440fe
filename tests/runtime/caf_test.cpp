// CAF's own actors on our coordinator and clock: what the stock clock gets wrong must go well here.
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <catch2/catch.hpp>

#include "runtime/detail/caf_clock.hpp"
#include "runtime/detail/coordinator.hpp"
#include "runtime/detail/run_queue.hpp"
#include "runtime_support.hpp"

namespace troupe::runtime {

using namespace std::chrono_literals;
using test::log_of;
using tick = caf::atom_constant<caf::atom("tick")>;

namespace {

struct steady final : clock {
  time_point now() const noexcept override { return std::chrono::steady_clock::now(); }
  wall_time wall_now() const noexcept override { return std::chrono::system_clock::now(); }
};

// A CAF system as runtime::system makes it, without our actors.
struct caf_stage {
  caf_stage() {
    timers.start();
    company.await_actors_before_shutdown(false);
  }
  steady time;
  timer_service timers{time};
  caf_clock actor_time{time, timers};
  run_queue jobs;
  caf_config config{jobs, actor_time, 2};
  caf::actor_system company{config};
};

struct counted {
  explicit counted(std::atomic<int>* gone) : gone{gone} {}
  counted(const counted&) = delete;
  ~counted() { ++*gone; }
  std::atomic<int>* gone;
};

}  // namespace

TEST_CASE("the clock survives being the last to know a thousand actors", "[runtime][caf]") {
  constexpr int count = 1'000;
  std::atomic<int> gone{0};
  log_of<int> spawned;
  log_of<int> ticked;
  caf_stage s;
  auto receiver =
      s.company.spawn([](caf::event_based_actor*) -> caf::behavior { return {[](tick) {}}; });
  // Each is kept alive by its one delayed message alone; all fall due in the same batch.
  const auto due = std::chrono::steady_clock::now() + 200ms;
  for (int i = 0; i < count; ++i) {
    s.company.spawn([&, due, receiver, mark = std::make_shared<counted>(&gone)](
                        caf::event_based_actor* self) -> caf::behavior {
      self->scheduled_send(receiver, due, tick::value);
      spawned.add(1);
      return {[mark](int) {}};
    });
  }
  REQUIRE(spawned.await(count));
  caf::anon_send_exit(receiver, caf::exit_reason::kill);
  receiver = nullptr;
  // A later message arrives only when the clock still runs.
  auto witness = s.company.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    self->delayed_send(self, 400ms, tick::value);
    return {[&](tick) { ticked.add(1); }};
  });
  CHECK(ticked.await(1));
  CHECK(gone == count);
}

TEST_CASE("timeouts of CAF's requests are cancelled, and fire when nobody answers",
          "[runtime][caf]") {
  log_of<std::string> seen;
  caf_stage s;
  auto echo = s.company.spawn([](caf::event_based_actor* self) -> caf::behavior {
    auto kept = std::make_shared<std::vector<caf::response_promise>>();
    return {[](int value) { return value; },
            [self, kept](double) { kept->push_back(self->make_response_promise()); }};
  });
  auto asker = s.company.spawn([&, echo](caf::event_based_actor* self) -> caf::behavior {
    self->request(echo, 60min, 5).then([&](int) { seen.add("answer"); });
    self->request(echo, 10ms, 5.0)
        .then([&](int) { seen.add("wrong"); }, [&](const caf::error&) { seen.add("timeout"); });
    return {[](tick) {}};
  });
  REQUIRE(seen.await(2));
  CHECK(seen.all() == std::vector<std::string>{"answer", "timeout"});
  caf::anon_send_exit(asker, caf::exit_reason::kill);
}

TEST_CASE("a CAF system with a thousand pending delayed messages ends", "[runtime][caf]") {
  log_of<int> spawned;
  caf_stage s;
  for (int i = 0; i < 1'000; ++i) {
    s.company.spawn([&](caf::event_based_actor* self) -> caf::behavior {
      self->delayed_send(self, 60min, tick::value);
      spawned.add(1);
      return {[](tick) {}};
    });
  }
  CHECK(spawned.await(1'000));
}

}  // namespace troupe::runtime
