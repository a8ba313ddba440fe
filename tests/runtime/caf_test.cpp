// CAF's own actors on our coordinator and clock: what the stock clock gets wrong must go well here.
//
// Left out under ThreadSanitizer: how CAF's actors hand over messages and references is inside of a
// library that is not instrumented, and every such message would be reported.
#if !defined(TROUPE_TSAN)
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

// A CAF system as runtime::actor_system makes it, without our actors.
struct caf_stage {
  caf_stage() {
    timers.start();
    system->await_actors_before_shutdown(false);
  }
  steady time;
  timer_service timers{time};
  caf_clock actor_time{time, timers};
  run_queue jobs;
  caf_config config{jobs, actor_time, 2};
  std::unique_ptr<caf::actor_system> system = std::make_unique<caf::actor_system>(config);
};

struct sink : caf::event_based_actor {
  using caf::event_based_actor::event_based_actor;
  caf::behavior make_behavior() override {
    return {[](tick) {}};
  }
};

// Kept alive by its one delayed message alone.
struct orphan : caf::event_based_actor {
  orphan(caf::actor_config& config, caf::actor to, std::chrono::steady_clock::time_point due,
         log_of<int>* spawned, log_of<int>* gone)
      : caf::event_based_actor{config}, to{std::move(to)}, due{due}, spawned{spawned}, gone{gone} {}
  ~orphan() override { gone->add(1); }
  caf::behavior make_behavior() override {
    scheduled_send(std::exchange(to, nullptr), due, tick::value);
    spawned->add(1);
    return {[](int) {}};
  }
  caf::actor to;
  std::chrono::steady_clock::time_point due;
  log_of<int>* spawned;
  log_of<int>* gone;
};

struct witness : caf::event_based_actor {
  witness(caf::actor_config& config, std::chrono::milliseconds after, log_of<int>* ticked)
      : caf::event_based_actor{config}, after{after}, ticked{ticked} {}
  caf::behavior make_behavior() override {
    delayed_send(this, after, tick::value);
    return {[this](tick) { ticked->add(1); }};
  }
  std::chrono::milliseconds after;
  log_of<int>* ticked;
};

struct echo : caf::event_based_actor {
  using caf::event_based_actor::event_based_actor;
  caf::behavior make_behavior() override {
    return {[](int value) { return value; },
            [this](double) { promises.push_back(make_response_promise()); }};
  }
  void on_exit() override { promises.clear(); }  // a promise of CAF keeps its actor
  std::vector<caf::response_promise> promises;
};

struct asker : caf::event_based_actor {
  asker(caf::actor_config& config, caf::actor to, log_of<std::string>* seen)
      : caf::event_based_actor{config}, to{std::move(to)}, seen{seen} {}
  caf::behavior make_behavior() override {
    request(to, 60min, 5).then([this](int) { seen->add("answer"); });
    request(to, 10ms, 5.0)
        .then([this](int) { seen->add("wrong"); },
              [this](const caf::error&) { seen->add("timeout"); });
    return {[](tick) {}};
  }
  caf::actor to;
  log_of<std::string>* seen;
};

}  // namespace

TEST_CASE("the clock survives being the last to know a thousand actors", "[runtime][caf]") {
  constexpr int count = 1'000;
  log_of<int> gone;
  log_of<int> spawned;
  log_of<int> ticked;
  caf_stage s;
  auto receiver = s.system->spawn<sink>();
  // All fall due in the same batch, and each ends its sender.
  const auto due = std::chrono::steady_clock::now() + 200ms;
  for (int i = 0; i < count; ++i)
    s.system->spawn<orphan>(receiver, due, &spawned, &gone);
  REQUIRE(spawned.await(count));
  caf::anon_send_exit(receiver, caf::exit_reason::kill);
  receiver = nullptr;
  // A later message arrives only when the clock still runs.
  s.system->spawn<witness>(400ms, &ticked);
  CHECK(ticked.await(1));
  CHECK(gone.await(count));
}

TEST_CASE("timeouts of CAF's requests are cancelled, and fire when nobody answers",
          "[runtime][caf]") {
  log_of<std::string> seen;
  caf_stage s;
  const auto to = s.system->spawn<echo>();
  const auto from = s.system->spawn<asker>(to, &seen);
  REQUIRE(seen.await(2));
  CHECK(seen.all() == std::vector<std::string>{"answer", "timeout"});
  caf::anon_send_exit(from, caf::exit_reason::kill);
  caf::anon_send_exit(to, caf::exit_reason::kill);
}

TEST_CASE("a CAF system with a thousand pending delayed messages ends", "[runtime][caf]") {
  log_of<int> gone;
  log_of<int> spawned;
  {
    caf_stage s;
    const auto to = s.system->spawn<sink>();
    const auto due = std::chrono::steady_clock::now() + 1h;
    for (int i = 0; i < 1'000; ++i)
      s.system->spawn<orphan>(to, due, &spawned, &gone);
    REQUIRE(spawned.await(1'000));
  }
  CHECK(gone.size() == 1'000);
}

}  // namespace troupe::runtime

#endif
