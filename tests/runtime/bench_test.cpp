// The cost of the runtime: run with `runtime_test "[.bench]"`. The decision record quotes these
// figures.
#include <malloc.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>

#include "runtime/simulation.hpp"
#include "runtime_support.hpp"

namespace troupe::runtime {

using namespace std::chrono_literals;
using test::log_of;

namespace {

// Real time, and CPU time of all threads of the process: the second one is meaningful even on a
// shared machine.
struct stopwatch {
  static double cpu_now() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  double cpu_seconds() const { return cpu_now() - cpu_begin; }
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  double cpu_begin = cpu_now();
};

struct ball {
  int left = 0;
};
struct answer {};
struct start_asking {
  int count = 0;
};

struct idle : actor {
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&idle::on_ball);
    return table;
  }
  void on_ball(const ball&) {}
};

struct player : actor {
  explicit player(log_of<int>* done) : done{done} {}
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&player::on_ball);
    return table;
  }
  void on_ball(const ball& m) {
    if (m.left == 0) {
      done->add(0);
    } else {
      tell(sender() ? sender() : other, ball{m.left - 1});
    }
  }
  static inline actor_ref other;
  log_of<int>* done;
};

struct counter : actor {
  counter(log_of<int>* done, int expected) : done{done}, expected{expected} {}
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&counter::on_ball);
    return table;
  }
  void on_ball(const ball&) {
    if (++seen == expected) done->add(seen);
  }
  log_of<int>* done;
  int expected;
  int seen = 0;
};

struct answerer : actor {
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&answerer::on_ball);
    return table;
  }
  void on_ball(const ball&, promise<answer> p) { p.deliver({}); }
};

struct requester : actor {
  requester(actor_ref to, log_of<int>* done) : to{std::move(to)}, done{done} {}
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&requester::on_start);
    return table;
  }
  void on_start(const start_asking& m) {
    left = m.count;
    next();
  }
  void next() {
    if (left-- == 0) return done->add(0);
    request<answer>(to, ball{}, 5s, [this](auto) { next(); });
  }
  actor_ref to;
  log_of<int>* done;
  int left = 0;
};

void print(const char* name, double value, const char* unit) {
  std::printf("%-52s %12.0f %s\n", name, value, unit);
}

void print_rate(const char* name, double count, const stopwatch& watch) {
  std::printf("%-52s %12.0f /s, %.0f ns of CPU each\n", name, count / watch.seconds(),
              watch.cpu_seconds() * 1e9 / count);
}

void print_percentiles(const char* name, std::vector<double>& us) {
  std::sort(us.begin(), us.end());
  std::printf("%-52s p50 %.1f p99 %.1f µs\n", name, us[us.size() / 2], us[us.size() * 99 / 100]);
}

}  // namespace

TEST_CASE("bench: spawn, memory and directory", "[.bench]") {
  constexpr int count = 300'000;
  runtime::actor_system system;
  std::vector<actor_ref> all;
  all.reserve(count);
  const auto before = mallinfo2();
  const stopwatch watch;
  for (int i = 0; i < count; ++i) {
    all.push_back(system.spawn({"idle", "default/web-" + std::to_string(i)}, make<idle>()));
  }
  print_rate("spawn", count, watch);
  log_of<int> done;
  const auto last = system.spawn({"counter", "c"}, make<counter>(&done, 1));
  last.tell(ball{});
  REQUIRE(done.await(1));
  print_rate("spawn and start", count, watch);
  print("memory of an idle actor",
        static_cast<double>(mallinfo2().uordblks - before.uordblks) / count, "bytes");
  std::size_t rows = 0;
  const stopwatch listing;
  system.actors().each([&](const actor_info&) { ++rows; });
  print("directory listing of all", listing.seconds() * 1e3, "ms");
  CHECK(rows == count + 1);
}

TEST_CASE("bench: ping-pong", "[.bench]") {
  log_of<int> done;
  runtime::actor_system system;
  const auto a = system.spawn({"player", "a"}, make<player>(&done));
  player::other = system.spawn({"player", "b"}, make<player>(&done));
  constexpr int count = 2'000'000;
  const stopwatch watch;
  a.tell(ball{count});
  REQUIRE(done.await(1));
  print_rate("ping-pong, one pair", count, watch);
  player::other = {};
}

TEST_CASE("bench: ten pairs of ping-pong", "[.bench]") {
  log_of<int> done;
  runtime::actor_system system;
  player::other = system.spawn({"player", "wall"}, make<player>(&done));
  constexpr int count = 200'000;
  const stopwatch watch;
  for (int i = 0; i < 10; ++i) {
    system.spawn({"player", std::to_string(i)}, make<player>(&done)).tell(ball{count});
  }
  REQUIRE(done.await(10));
  print_rate("ping-pong, ten players against one", 10 * count, watch);
  player::other = {};
}

TEST_CASE("bench: fan-in from foreign threads", "[.bench]") {
  for (const int threads : {1, 2, 4}) {
    constexpr int total = 2'000'000;
    log_of<int> done;
    runtime::actor_system system;
    const auto to = system.spawn({"counter", "c"}, make<counter>(&done, total));
    const stopwatch watch;
    std::vector<std::thread> senders;
    for (int t = 0; t < threads; ++t) {
      senders.emplace_back([&] {
        for (int i = 0; i < total / threads; ++i) {
          while (!to.tell(ball{}))
            std::this_thread::yield();  // a full mailbox
        }
      });
    }
    for (auto& each : senders)
      each.join();
    REQUIRE(done.await(1));
    print_rate(("fan-in, foreign threads: " + std::to_string(threads)).c_str(), total, watch);
  }
}

TEST_CASE("bench: one message shared by a thousand actors", "[.bench]") {
  constexpr int receivers = 1'000;
  constexpr int rounds = 1'000;
  log_of<int> done;
  runtime::actor_system system;
  std::vector<actor_ref> all;
  for (int i = 0; i < receivers; ++i) {
    all.push_back(system.spawn({"counter", std::to_string(i)}, make<counter>(&done, rounds)));
  }
  const stopwatch watch;
  for (int r = 0; r < rounds; ++r) {
    const auto shared = message::of(ball{r});
    for (const auto& each : all)
      each.send(shared);
  }
  REQUIRE(done.await(receivers));
  print_rate("fan-out to 1000 actors", receivers * rounds, watch);
}

TEST_CASE("bench: requests", "[.bench]") {
  log_of<int> done;
  runtime::actor_system system;
  const auto to = system.spawn({"answerer", "a"}, make<answerer>());
  constexpr int count = 1'000'000;
  {
    const auto from = system.spawn({"asker", "q"}, make<requester>(to, &done));
    const stopwatch watch;
    from.tell(start_asking{count});
    REQUIRE(done.await(1));
    print_rate("request and answer between actors", count, watch);
  }
  std::vector<double> us;
  for (int i = 0; i < 20'000; ++i) {
    std::mutex mutex;
    std::condition_variable changed;
    bool answered = false;
    const stopwatch watch;
    system.request<answer>(to, ball{}, 5s, [&](auto) {
      std::lock_guard lock{mutex};
      answered = true;
      changed.notify_one();
    });
    std::unique_lock lock{mutex};
    changed.wait(lock, [&] { return answered; });
    us.push_back(watch.seconds() * 1e6);
  }
  print_percentiles("request from a foreign thread, and back", us);
}

TEST_CASE("bench: wake-up from a foreign thread", "[.bench]") {
  struct wake {
    std::chrono::steady_clock::time_point sent;
  };
  static log_of<double> us;
  struct sleeper : actor {
    const behavior& make_behavior() const override {
      static const behavior table = handlers(&sleeper::on_wake);
      return table;
    }
    void on_wake(const wake& m) {
      us.add(std::chrono::duration<double>(std::chrono::steady_clock::now() - m.sent).count() *
             1e6);
    }
  };
  runtime::actor_system system;
  const auto to = system.spawn({"sleeper", "s"}, make<sleeper>());
  for (std::size_t i = 0; i < 20'000; ++i) {
    to.tell(wake{std::chrono::steady_clock::now()});
    REQUIRE(us.await(i + 1));
  }
  auto all = us.all();
  print_percentiles("tell from a foreign thread until handled", all);
}

TEST_CASE("bench: timers", "[.bench]") {
  struct arm {};
  static log_of<int> armed;
  struct holder : actor {
    const behavior& make_behavior() const override {
      static const behavior table = handlers(&holder::on_arm);
      return table;
    }
    void on_arm(const arm&) {
      constexpr int count = 100'000;
      const auto before = mallinfo2();
      {
        const stopwatch watch;
        for (int i = 0; i < count; ++i) {
          all.push_back(after(1h + std::chrono::milliseconds{i * 7919 % count}, [] {}));
        }
        print("arm a timer, 100,000 pending", watch.seconds() / count * 1e9, "ns");
      }
      print("memory of a pending timer",
            static_cast<double>(mallinfo2().uordblks - before.uordblks) / count, "bytes");
      const stopwatch watch;
      all.clear();
      print("cancel a timer, 100,000 pending", watch.seconds() / count * 1e9, "ns");
      armed.add(1);
    }
    std::vector<timer> all;
  };
  runtime::actor_system system;
  system.spawn({"holder", "h"}, make<holder>()).tell(arm{});
  REQUIRE(armed.await(1));
}

TEST_CASE("bench: simulation", "[.bench]") {
  struct hop {
    int left;
  };
  static std::vector<actor_ref> all;
  struct wanderer : actor {
    const behavior& make_behavior() const override {
      static const behavior table = handlers(&wanderer::on_hop);
      return table;
    }
    void on_hop(const hop& m) {
      if (m.left > 0) tell(all[random()() % all.size()], hop{m.left - 1});
    }
  };
  simulation s{1};
  for (int i = 0; i < 1'000; ++i) {
    all.push_back(s.system().spawn({"wanderer", std::to_string(i)}, make<wanderer>()));
  }
  s.settle();
  for (const auto& each : all)
    each.tell(hop{1'000});
  const stopwatch watch;
  const auto steps = s.settle(10'000'000);
  print_rate("steps of a simulation, 1,000 actors", static_cast<double>(steps), watch);
  all.clear();
}

}  // namespace troupe::runtime
