#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "runtime/detail/pending_calls.hpp"
#include "runtime/detail/timer_service.hpp"
#include "runtime/simulation.hpp"
#include "runtime_support.hpp"

namespace troupe::runtime {

using namespace std::chrono_literals;
using test::log_of;

namespace {

struct go {};

// Runs one function in an actor, for experiments with timers.
struct stage_hand : actor {
  using work = std::function<void(stage_hand&)>;
  explicit stage_hand(work action) : action{std::move(action)} {}
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&stage_hand::on_go);
    return table;
  }
  void on_go(const go&) { action(*this); }
  using actor::after;
  using actor::every;
  using actor::now;
  using actor::stop;
  work action;
  timer held;
  std::vector<timer> many;
};

struct stage {
  explicit stage(stage_hand::work action)
      : hand{all.system().spawn({"stage_hand", "h"}, make<stage_hand>(std::move(action)))} {
    hand.tell(go{});
    all.settle();
  }
  simulation all{5};
  actor_ref hand;
};

struct fixed_clock final : clock {
  time_point now() const noexcept override { return current; }
  wall_time wall_now() const noexcept override { return {}; }
  time_point current{};
};

struct collecting_target final : timer_target {
  void retain() noexcept override { ++retained; }
  void due(std::uint64_t id) noexcept override { fired.push_back(id); }
  int retained = 0;
  std::vector<std::uint64_t> fired;
};

}  // namespace

TEST_CASE("a timer fires once, at its time", "[runtime]") {
  int fired = 0;
  stage s{[&](stage_hand& h) { h.held = h.after(10s, [&] { ++fired; }); }};
  s.all.advance(10s - 1ns);
  CHECK(fired == 0);
  s.all.advance(1ns);
  CHECK(fired == 1);
  s.all.advance(1h);
  CHECK(fired == 1);
}

TEST_CASE("a timer that is cancelled, replaced or destroyed never fires", "[runtime]") {
  int wrong = 0;
  int right = 0;
  stage s{[&](stage_hand& h) {
    auto cancelled = h.after(1s, [&] { ++wrong; });
    CHECK(cancelled.pending());
    cancelled.cancel();
    CHECK_FALSE(cancelled.pending());
    {
      const auto destroyed = h.after(1s, [&] { ++wrong; });
    }
    h.held = h.after(1s, [&] { ++wrong; });
    h.held = h.after(1s, [&] { ++right; });
  }};
  s.all.advance(1h);
  CHECK(wrong == 0);
  CHECK(right == 1);
}

TEST_CASE("the timers of an actor that ended or was restarted never fire", "[runtime]") {
  int fired = 0;
  bool crash = false;
  stage s{[&](stage_hand& h) {
    h.held = h.after(1s, [&] { ++fired; });
    if (crash) throw std::runtime_error{"boom"};
    h.stop();
  }};
  s.all.advance(1h);
  CHECK(fired == 0);
  crash = true;
  const auto other =
      s.all.system().spawn({"stage_hand", "other"}, make<stage_hand>([&](stage_hand& h) {
                             h.held = h.after(1s, [&] { ++fired; });
                             throw std::runtime_error{"boom"};
                           }));
  other.tell(go{});
  s.all.advance(1h);
  CHECK(fired == 0);
}

TEST_CASE("a repeated timer keeps to its grid and may cancel itself", "[runtime]") {
  std::vector<duration> at;
  stage s{[&](stage_hand& h) {
    const auto begin = h.now();
    h.held = h.every(10ms, [&at, &h, begin] {
      at.push_back(h.now() - begin);
      if (at.size() == 3) h.held.cancel();
    });
  }};
  s.all.advance(1s);
  CHECK(at == std::vector<duration>{10ms, 20ms, 30ms});
}

TEST_CASE("a late repeated timer skips missed ticks", "[runtime]") {
  const time_point due{100ms};
  CHECK(next_on_grid(due, 10ms, due) == due + 10ms);
  CHECK(next_on_grid(due, 10ms, due + 9ms) == due + 10ms);
  CHECK(next_on_grid(due, 10ms, due + 10ms) == due + 20ms);
  CHECK(next_on_grid(due, 10ms, due + 34ms) == due + 40ms);
}

TEST_CASE("a timer's action that throws restarts the actor", "[runtime]") {
  stage s{
      [&](stage_hand& h) { h.held = h.after(1s, [] { throw std::runtime_error{"late boom"}; }); }};
  s.all.advance(2s);
  CHECK(s.all.system().actors().find(s.hand.id())->last_error == "late boom");
}

TEST_CASE("timers fire in the order of their times, and of their making when these are equal",
          "[runtime]") {
  std::vector<int> order;
  stage s{[&](stage_hand& h) {
    for (const int ms : {30, 10, 20, 10}) {
      h.many.push_back(h.after(std::chrono::milliseconds{ms}, [&order, ms, nth = h.many.size()] {
        order.push_back(ms + static_cast<int>(nth));
      }));
    }
  }};
  s.all.advance(1s);
  CHECK(order == std::vector<int>{11, 13, 22, 30});
}

TEST_CASE("a hundred thousand timers of real actors fire", "[runtime]") {
  constexpr int count = 100'000;
  std::atomic<int> fired{0};
  log_of<int> finished;
  runtime::actor_system system;
  const auto hand = system.spawn({"stage_hand", "h"}, make<stage_hand>([&](stage_hand& h) {
                                   for (int i = 0; i < count; ++i) {
                                     h.many.push_back(h.after(std::chrono::microseconds{i}, [&] {
                                       if (++fired == count) finished.add(1);
                                     }));
                                   }
                                 }));
  hand.tell(go{});
  CHECK(finished.await(1));
}

TEST_CASE("the heap of deadlines agrees with a sorted map under random use", "[runtime]") {
  const auto seed = GENERATE(range(1, 21));
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  fixed_clock time;
  timer_service timers{time};
  collecting_target target;
  std::vector<timer_node> nodes(200);
  std::map<std::pair<time_point, std::uint64_t>, std::uint64_t> model;
  std::map<std::uint64_t, std::pair<time_point, std::uint64_t>> due_by_id;
  std::uint64_t sequence = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].target = &target;
    nodes[i].id = i;
  }
  for (int round = 0; round < 3'000; ++round) {
    const auto id = random() % nodes.size();
    const auto known = due_by_id.find(id);
    if (known == due_by_id.end()) {
      const time_point due = time.current + duration{static_cast<std::int64_t>(random() % 50)};
      timers.add(nodes[id], due);
      due_by_id[id] = {due, ++sequence};
      model[due_by_id[id]] = id;
    } else if (random() % 3 == 0) {
      timers.remove(nodes[id]);
      model.erase(known->second);
      due_by_id.erase(known);
    }
    if (random() % 10 == 0) {
      time.current += duration{static_cast<std::int64_t>(random() % 20)};
      target.fired.clear();
      timers.fire(time.current);
      std::vector<std::uint64_t> expected;
      while (!model.empty() && model.begin()->first.first <= time.current) {
        expected.push_back(model.begin()->second);
        due_by_id.erase(model.begin()->second);
        model.erase(model.begin());
      }
      REQUIRE(target.fired == expected);
    }
    REQUIRE(timers.size() == model.size());
    REQUIRE(timers.next().has_value() == !model.empty());
  }
}

TEST_CASE("a call that is taken or cleared leaves no deadline behind", "[runtime]") {
  fixed_clock time;
  timer_service timers{time};
  collecting_target target;
  pending_calls calls{timers};
  const auto add = [&] {
    auto call = std::make_unique<pending_call>();
    call->action = timer_action{[] {}};
    call->due = time.current + 1s;
    return calls.add(target, std::move(call));
  };
  const auto first = add();
  const auto second = add();
  CHECK(timers.size() == 2);
  CHECK(calls.take(first));
  CHECK(timers.size() == 1);
  const auto third = add();  // in the slot of the first
  CHECK_FALSE(calls.take(first));
  CHECK(calls.find(second) != nullptr);
  CHECK(calls.find(third) != nullptr);
  calls.clear();
  CHECK(timers.size() == 0);
  CHECK(calls.find(third) == nullptr);
}

TEST_CASE("long timers fire together on a grid, never early; short ones to the moment") {
  std::mt19937_64 random{7};
  std::map<time_point, int> moments;
  for (int i = 0; i < 5'000; ++i) {
    const time_point now{duration{static_cast<std::int64_t>(random() % 10'000'000'000)}};
    const auto due = timer_due(now, 10s);
    REQUIRE(due >= now + 10s);
    REQUIRE(due < now + 10s + defaults::coalesced_grid);
    ++moments[due];
    REQUIRE(timer_due(now, 4999ms) == now + 4999ms);
  }
  CHECK(moments.size() <= 201);
  const time_point on_grid{defaults::coalesced_grid * 3};
  CHECK(timer_due(on_grid, 10s) == on_grid + 10s);
}

}  // namespace troupe::runtime
