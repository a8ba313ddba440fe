#include <catch2/catch.hpp>

#include "runtime_support.hpp"

namespace troupe::runtime {

using namespace std::chrono_literals;
using test::log_of;

namespace {

struct pass {
  int left = 0;
};
struct never {};
struct answer {};

// Always has a pending timer and request, and keeps sending messages to its neighbour.
struct busy : actor {
  explicit busy(std::atomic<int>* alive) : alive{alive} { ++*alive; }
  ~busy() override { --*alive; }
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&busy::on_pass, &busy::on_never);
    return table;
  }
  void started() override {
    far = after(1h, [] {});
    often = every(1ms, [this] { tell(self(), pass{3}); });
    request<answer>(self(), never{}, 1h, [](auto) {});
  }
  void on_pass(const pass& m) {
    if (m.left > 0) tell(self(), pass{m.left - 1});
  }
  void on_never(const never&, promise<answer> p) { pending = std::move(p); }
  std::atomic<int>* alive;
  timer far;
  timer often;
  promise<answer> pending;
};

// A busy machine may take longer than the default until all handlers have ended.
system_options patient() {
  system_options options;
  options.shutdown_grace = test::patience;
  return options;
}

// Stays in its handler until it is released.
struct stuck : actor {
  stuck(std::mutex* gate, log_of<int>* entered, log_of<int>* left)
      : gate{gate}, entered{entered}, left{left} {}
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&stuck::on_pass);
    return table;
  }
  void on_pass(const pass&) {
    entered->add(1);
    { std::lock_guard wait{*gate}; }
    left->add(1);
  }
  std::mutex* gate;
  log_of<int>* entered;
  log_of<int>* left;
};

}  // namespace

TEST_CASE("a system of ten thousand busy actors ends at once and leaves nothing", "[runtime]") {
  std::atomic<int> alive{0};
  log_of<request_error> failed;
  std::vector<actor_ref> all;
  {
    runtime::actor_system system{patient()};
    for (int i = 0; i < 10'000; ++i) {
      all.push_back(system.spawn({"busy", std::to_string(i)}, make<busy>(&alive)));
    }
    for (const auto& each : all)
      each.tell(pass{100});
    system.request<answer>(all[0], never{}, 1h, [&](auto reply) { failed.add(reply.error()); });
  }
  CHECK(alive == 0);
  REQUIRE(failed.size() == 1);
  CHECK(failed.all()[0] == request_error::down);
  // References may outlive the system; messages to them are dropped.
  for (const auto& each : all)
    REQUIRE_FALSE(each.tell(pass{}));
}

TEST_CASE("threads may send while the system ends", "[runtime]") {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> alive{0};
    auto system = std::make_unique<runtime::actor_system>(patient());
    std::vector<actor_ref> all;
    for (int i = 0; i < 50; ++i) {
      all.push_back(system->spawn({"busy", std::to_string(i)}, make<busy>(&alive)));
    }
    std::vector<std::thread> senders;
    for (int t = 0; t < 2; ++t) {
      senders.emplace_back([all] {
        for (std::size_t i = 0; all[i % all.size()].tell(pass{2}); ++i) {
        }
      });
    }
    system.reset();
    for (auto& each : senders)
      each.join();
    CHECK(alive == 0);
  }
}

TEST_CASE("a handler that does not end is left behind after the grace", "[runtime]") {
  // They outlive the test, because the abandoned thread still uses them.
  static std::mutex gate;
  static log_of<int> entered;
  static log_of<int> left;
  std::unique_lock closed{gate};
  {
    system_options options;
    options.shutdown_grace = 50ms;
    runtime::actor_system system{options};
    system.spawn({"stuck", "s"}, make<stuck>(&gate, &entered, &left)).tell(pass{});
    REQUIRE(entered.await(1));
  }
  CHECK(left.size() == 0);
  closed.unlock();
  CHECK(left.await(1));
}

TEST_CASE("nothing can be started in a system that ends", "[runtime]") {
  std::atomic<int> alive{0};
  static log_of<std::uint64_t> spawned;
  struct late : actor {
    late(runtime::actor_system* system, std::atomic<int>* alive) : system{system}, alive{alive} {}
    ~late() override { spawned.add(system->spawn({"busy", "b"}, make<busy>(alive)).id()); }
    const behavior& make_behavior() const override {
      static const behavior none;
      return none;
    }
    runtime::actor_system* system;
    std::atomic<int>* alive;
  };
  {
    runtime::actor_system system;
    log_of<std::string> text;
    const auto l = system.spawn({"late", "l"}, make<late>(&system, &alive));
    system.request<description>(l, describe{}, test::patience, [&](auto) { text.add("started"); });
    REQUIRE(text.await(1));
  }
  REQUIRE(spawned.size() == 1);
  CHECK(spawned.all()[0] == 0);
  CHECK(alive == 0);
}

}  // namespace troupe::runtime
