#include "runtime/observation.hpp"

#include <malloc.h>

#include <catch2/catch.hpp>
#include <cstdio>

#include "runtime/defaults.hpp"
#include "runtime/own_log.hpp"
#include "runtime/simulation.hpp"
#include "runtime_support.hpp"
#include "support/captured_log.hpp"

namespace troupe::runtime {

using namespace std::chrono_literals;
using test::log_of;

namespace {

struct greet {
  int times = 1;
};
struct thanks {};
struct stumble {};

// Answers each greeting, keeps a timer, throws when told to.
struct host_of_party : actor {
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&host_of_party::on_greet, &host_of_party::on_stumble);
    return table;
  }
  void started() override {
    clock_ = every(1h, [] {});
  }
  std::string describe() const override {
    if (seen_ == 13) throw std::runtime_error{"unlucky"};
    return "seen: " + std::to_string(seen_) + "\n";
  }
  void on_greet(const greet& m) {
    seen_ += m.times;
    if (auto* const log = own_log()) log->debug("heard {}", m.times);
    if (sender()) tell(sender(), thanks{});
  }
  void on_stumble(const stumble&) { throw std::runtime_error{"the carpet"}; }
  int seen_ = 0;
  timer clock_;
};

struct guest : actor {
  explicit guest(actor_ref to) : to{std::move(to)} {}
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&guest::on_greet, &guest::on_thanks);
    return table;
  }
  void on_greet(const greet& m) { tell(to, m); }
  void on_thanks(const thanks&) {}
  actor_ref to;
};

struct party {
  simulation scene{7};
  actor_ref host = scene.system().spawn({"host", "h"}, make<host_of_party>());
  actor_ref visitor = scene.system().spawn({"guest", "g"}, make<guest>(host));

  actor_detail detail() { return scene.system().actors().detail(host.id()).value(); }
  actor_info row() { return scene.system().actors().find(host.id()).value(); }
  inspection inspect() {
    std::optional<inspection> seen;
    scene.system().request<inspection>(host, runtime::inspect{}, 1s,
                                       [&](auto reply) { seen = *reply.value(); });
    scene.settle();
    return seen.value();
  }
};

const message_counts* row_of(const actor_detail& from, std::string_view type) {
  for (const auto& each : from.messages)
    if (each.type == type) return &each;
  return nullptr;
}

}  // namespace

TEST_CASE("messages are counted by type, with their times and the cause of the last") {
  party p;
  for (std::uint64_t i = 1; i <= 3; ++i)
    p.visitor.tell(greet{}, {.request = 81, .revision = i});
  p.scene.settle();
  const auto detail = p.detail();
  const auto* greetings = row_of(detail, "greet");
  REQUIRE(greetings != nullptr);
  CHECK(greetings->received == 3);
  CHECK(greetings->cause.request == 81);
  CHECK(greetings->cause.revision == 3);
  std::uint64_t timed = 0;
  for (const auto each : greetings->times)
    timed += each;
  CHECK(timed == 3);
  const auto* answers = row_of(detail, "thanks");
  REQUIRE(answers != nullptr);
  CHECK(answers->sent == 3);
  CHECK(answers->received == 0);
}

TEST_CASE("the recorder keeps sender, receiver, message and cause in order") {
  party p;
  p.scene.settle();
  auto cursor = p.scene.system().recorder().newest();
  p.visitor.tell(greet{}, {.request = 5, .revision = 9});
  p.scene.settle();
  const auto seen = p.scene.system().recorder().read(cursor);
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].type == "greet");
  CHECK(seen[0].sender == 0);
  CHECK(seen[1].receiver == p.host.id());
  CHECK(seen[1].sender == p.visitor.id());
  CHECK(seen[2].type == "thanks");
  CHECK(seen[2].cause.request == 5);
  CHECK(seen[2].cause.revision == 9);
  CHECK(cursor.lost == 0);
  CHECK(p.scene.system().recorder().read(cursor).empty());
}

TEST_CASE("a slow reader of the recorder learns how many entries it missed") {
  party p;
  p.scene.settle();
  auto cursor = p.scene.system().recorder().newest();
  const auto sent = 3 * defaults::recorder_slots;
  for (std::size_t i = 0; i < sent; ++i)
    p.host.tell(greet{});
  p.scene.settle();
  const auto seen = p.scene.system().recorder().read(cursor);
  CHECK(seen.size() == defaults::recorder_slots - 1);
  CHECK(seen.size() + cursor.lost == sent);
}

TEST_CASE("an inspection shows state, timers and requests, and survives a describe that throws") {
  party p;
  p.scene.settle();
  auto seen = p.inspect();
  CHECK(seen.state == "seen: 0\n");
  REQUIRE(seen.timers.size() == 1);
  CHECK(seen.timers[0].period == 1h);
  p.host.tell(greet{13});
  p.scene.settle();
  CHECK(p.inspect().state == "describe() threw: unlucky\n");
  CHECK(p.row().restarts == 0);
}

TEST_CASE("the first messages of a new actor have the cause of its creation") {
  static cause seen, later;
  struct newborn : actor {
    const behavior& make_behavior() const override {
      static const behavior table = handlers(&newborn::on_stumble);
      return table;
    }
    void started() override { (seen.request == 0 ? seen : later) = current_cause(); }
    void on_stumble(const stumble&) { throw std::runtime_error{"again"}; }
  };
  struct parent : actor {
    const behavior& make_behavior() const override {
      static const behavior table = handlers(&parent::on_greet);
      return table;
    }
    void on_greet(const greet&) { spawn({"child", "c"}, make<newborn>()); }
  };
  simulation scene{3};
  const auto mother = scene.system().spawn({"parent", "p"}, make<parent>());
  mother.tell(greet{}, {.request = 12, .revision = 34});
  scene.settle();
  CHECK(seen.request == 12);
  CHECK(seen.revision == 34);
  later.request = 1;
  scene.system().actors().find("child", "c").tell(stumble{});
  scene.advance(defaults::restart_backoff);
  CHECK(later.request == 0);  // the only cause of the restart is the crash
}

TEST_CASE("restarts are kept with their reasons, the newest few") {
  party p;
  for (std::size_t i = 0; i < defaults::restarts_kept + 2; ++i) {
    p.host.tell(stumble{});
    p.scene.advance(1min);
  }
  const auto detail = p.detail();
  REQUIRE(detail.restarts.size() == defaults::restarts_kept);
  CHECK(detail.restarts.back().during == "stumble");
  CHECK(detail.restarts.back().error == "the carpet");
  CHECK(detail.info.restarts == defaults::restarts_kept + 2);
}

TEST_CASE("a paused actor keeps its mail until it is resumed") {
  party p;
  p.scene.settle();
  REQUIRE(p.scene.system().pause(p.host, 1min));
  p.host.tell(greet{});
  p.host.tell(greet{});
  p.scene.settle();
  CHECK(p.row().paused);
  CHECK(p.row().mailbox == 2);
  REQUIRE(p.scene.system().resume(p.host));
  p.scene.settle();
  CHECK_FALSE(p.row().paused);
  CHECK(p.row().mailbox == 0);
  CHECK(p.inspect().state == "seen: 2\n");
}

TEST_CASE("a pause ends by itself") {
  party p;
  p.scene.settle();
  REQUIRE(p.scene.system().pause(p.host, 24h));
  p.host.tell(greet{});
  p.scene.advance(defaults::longest_pause - 1s);
  CHECK(p.row().mailbox == 1);
  p.scene.advance(2s);
  CHECK(p.row().mailbox == 0);
  CHECK_FALSE(p.row().paused);
}

TEST_CASE("a requested restart starts a new incarnation at once, a kill is a crash with back-off") {
  party p;
  p.host.tell(greet{5});
  p.scene.settle();
  REQUIRE(p.scene.system().restart(p.host, "admin asked"));
  p.scene.settle();
  CHECK(p.inspect().state == "seen: 0\n");
  CHECK(p.row().last_error == "admin asked");
  REQUIRE(p.scene.system().kill(p.host, "admin killed it"));
  p.scene.settle();
  CHECK(p.row().backing_off);
  p.scene.advance(defaults::restart_backoff);
  CHECK_FALSE(p.row().backing_off);
  CHECK(p.row().restarts == 2);
}

TEST_CASE("the counts of an ended actor remain in those of its kind") {
  party p;
  p.visitor.tell(greet{});
  p.scene.settle();
  p.scene.system().stop(p.visitor);
  p.scene.settle();
  const auto ended_totals = p.scene.system().actors().ended_totals();
  REQUIRE(ended_totals.count("guest") == 1);
  CHECK(ended_totals.at("guest").ended == 1);
  CHECK(ended_totals.at("guest").handled == 2);
  CHECK(ended_totals.count("host") == 0);
}

TEST_CASE("an actor with a log of its own logs its actions and the messages it handles") {
  test::captured_log said;
  party p;
  const auto level = [&] { return p.detail().log_level; };
  p.visitor.tell(greet{});
  p.scene.settle();
  CHECK_FALSE(level());
  CHECK(p.scene.system().log_level(p.host, spdlog::level::debug));
  p.visitor.tell(greet{2});
  p.scene.settle();
  CHECK_THAT(said.take(), Catch::Contains("[host/h] [debug] heard 2") &&
                              Catch::Contains("[host/h] [debug] handled ") &&
                              Catch::Contains("from guest/g") && !Catch::Contains("[guest/g]"));
  CHECK(level() == spdlog::level::debug);
  SECTION("at the level that it was given last") {
    CHECK(p.scene.system().log_level(p.host, spdlog::level::info));
    p.visitor.tell(greet{3});
    p.scene.settle();
    CHECK(said.take().empty());
    CHECK(level() == spdlog::level::info);
  }
  SECTION("also in its next life") {
    p.host.tell(stumble{});
    p.scene.settle();
    p.scene.advance(1min);
    p.visitor.tell(greet{5});
    p.scene.settle();
    CHECK_THAT(said.take(), Catch::Contains("[host/h] [debug] heard 5"));
  }
  CHECK(own_log() == nullptr);
}

TEST_CASE("orders to an actor that has ended are refused") {
  party p;
  const auto once = p.scene.system().spawn({"host", "once", false}, make<host_of_party>());
  p.scene.settle();
  CHECK_FALSE(p.scene.system().restart(once, "it would not come back"));
  REQUIRE(p.scene.system().pause(once, 1min));
  REQUIRE(p.scene.system().kill(once, "enough"));
  p.scene.settle();
  CHECK_FALSE(p.scene.system().actors().find(once.id()));
  CHECK_FALSE(p.scene.system().kill(once, "again"));
  CHECK_FALSE(p.scene.system().pause(once, 1min));
  p.scene.advance(2min);
}

TEST_CASE("orders and readers do no harm while messages fly") {
  runtime::actor_system system;
  const auto to = system.spawn({"host", "h"}, make<host_of_party>());
  std::atomic<bool> over{false};
  std::thread sender{[&] {
    while (!over) {
      if (!to.tell(greet{})) std::this_thread::yield();
    }
  }};
  auto cursor = system.recorder().newest();
  std::uint64_t seen = 0;
  const auto deadline = std::chrono::steady_clock::now() + test::patience;
  const auto enough = [&] {
    return seen + cursor.lost >= 50'000 && system.actors().find(to.id())->restarts > 0;
  };
  for (int i = 0; !enough() && std::chrono::steady_clock::now() < deadline; ++i) {
    system.pause(to, 1min);
    seen += system.recorder().read(cursor).size();
    system.actors().detail(to.id());
    if (i % 10 == 0) system.restart(to, "by hand");
    system.resume(to);
  }
  over = true;
  sender.join();
  CHECK(seen + cursor.lost >= 50'000);
  CHECK(system.actors().find(to.id())->restarts > 0);
}

TEST_CASE("bench: the cost of observation", "[.bench]") {
  constexpr int rounds = 1'000'000;
  for (int turn = 0; turn < 3; ++turn) {
    for (const bool on : {true, false}) {
      system_options options;
      options.observe = on;
      runtime::actor_system system{options};
      const auto to = system.spawn({"host", "h"}, make<host_of_party>());
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < rounds; ++i) {
        while (!to.tell(greet{}))
          std::this_thread::yield();
      }
      while (system.actors().find(to.id())->handled < rounds)
        std::this_thread::yield();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      std::printf("observation %s: %.0f messages/s\n", on ? "on " : "off", rounds / took.count());
    }
  }
  runtime::actor_system system;
  constexpr int count = 100'000;
  std::vector<actor_ref> all;
  for (int i = 0; i < count; ++i)
    all.push_back(
        system.spawn({"host", "default/web-" + std::to_string(i)}, make<host_of_party>()));
  const auto settled = [&](std::uint64_t handled) {
    for (const auto& each : all) {
      while (system.actors().find(each.id())->handled < handled)
        std::this_thread::yield();
    }
  };
  all.back().tell(greet{});
  while (system.actors().find(all.back().id())->handled < 1)
    std::this_thread::yield();
  const auto before = mallinfo2().uordblks;
  for (const auto& each : all)
    each.tell(greet{});
  settled(1);
  const auto after = mallinfo2().uordblks;
  std::printf("memory for each type that an actor has met: %.0f bytes\n",
              static_cast<double>(after - before) / count);
}

}  // namespace troupe::runtime
