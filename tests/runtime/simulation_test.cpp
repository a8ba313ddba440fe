#include "runtime/simulation.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "runtime/defaults.hpp"

namespace troupe::runtime {

using namespace std::chrono_literals;

namespace {

struct token {
  int left = 0;
};
struct report {
  std::uint64_t value = 0;
};

// Sends tokens to random others after random delays.
struct gossip : actor {
  gossip(std::vector<actor_ref>* all, std::uint64_t* sum) : all{all}, sum{sum} {}
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&gossip::on_token, &gossip::on_report);
    return table;
  }
  void started() override { ++starts; }
  void on_token(const token& m) {
    *sum = *sum * 31 + static_cast<std::uint64_t>(m.left);
    if (m.left == 0) return;
    const auto& next = (*all)[random()() % all->size()];
    if (random()() % 4 == 0) {
      const auto delay = std::chrono::milliseconds{random()() % 5'000};
      waits.push_back(after(delay, [this, next, left = m.left] { tell(next, token{left - 1}); }));
    } else {
      request<token>(next, report{random()()}, 1s, [](auto) {});
      tell(next, token{m.left - 1});
    }
  }
  void on_report(const report& m, promise<token> p) {
    if (m.value % 2 == 0) p.deliver({});
  }
  std::vector<actor_ref>* all;
  std::uint64_t* sum;
  std::vector<timer> waits;
  int starts = 0;
};

struct result {
  std::uint64_t trace = 0;
  std::uint64_t sum = 0;
  std::size_t crashes = 0;
  bool operator==(const result&) const = default;
};

result run(std::uint64_t seed, fault_plan faults = {}) {
  result r;
  std::vector<actor_ref> all;
  simulation s{seed};
  s.faults(std::move(faults));
  for (int i = 0; i < 20; ++i) {
    all.push_back(s.system().spawn({"gossip", std::to_string(i)}, make<gossip>(&all, &r.sum)));
  }
  for (const auto& each : all)
    each.tell(token{50});
  s.advance(10min);
  s.system().actors().each([&](const actor_info& row) { r.crashes += row.restarts; });
  r.trace = s.trace();
  return r;
}

}  // namespace

TEST_CASE("the same seed gives the same run, another seed another", "[runtime]") {
  std::set<std::uint64_t> traces;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto first = run(seed);
    CHECK(first == run(seed));
    traces.insert(first.trace);
  }
  CHECK(traces.size() == 10);
}

TEST_CASE("faults come from the seed as well", "[runtime]") {
  fault_plan faults;
  faults.crash = 0.02;
  faults.delay = 0.3;
  const auto first = run(4, faults);
  CHECK(first == run(4, faults));
  CHECK(first.crashes > 5);
  CHECK_FALSE(first == run(4));
}

TEST_CASE("only actors that may crash do", "[runtime]") {
  fault_plan faults;
  faults.crash = 1;
  faults.may_crash = [](const std::string&, const std::string& name) { return name == "3"; };
  std::vector<actor_ref> all;
  std::uint64_t sum = 0;
  simulation s{1};
  s.faults(faults);
  for (int i = 0; i < 5; ++i) {
    all.push_back(s.system().spawn({"gossip", std::to_string(i)}, make<gossip>(&all, &sum)));
  }
  for (const auto& each : all)
    each.tell(token{0});
  s.settle();
  s.system().actors().each(
      [&](const actor_info& row) { CHECK(row.restarts == (row.name == "3" ? 1U : 0U)); });
}

TEST_CASE("virtual time moves only when it is advanced", "[runtime]") {
  simulation s{1};
  const auto begin = s.system().time().now();
  const auto wall = s.system().time().wall_now();
  CHECK(wall == defaults::simulation_epoch);
  s.settle();
  CHECK(s.system().time().now() == begin);
  s.advance(24h);
  CHECK(s.system().time().now() - begin == 24h);
  CHECK(s.system().time().wall_now() - wall == 24h);
}

TEST_CASE("run_until stops at the moment when the condition holds, or at its limit", "[runtime]") {
  std::vector<actor_ref> all;
  std::uint64_t sum = 0;
  simulation s{9};
  all.push_back(s.system().spawn({"gossip", "g"}, make<gossip>(&all, &sum)));
  all[0].tell(token{200});
  const auto begin = s.system().time().now();
  CHECK(s.run_until([&] { return s.system().actors().find(all[0].id())->handled >= 100; }, 1h));
  CHECK(s.system().time().now() - begin < 1h);
  CHECK_FALSE(s.run_until([] { return false; }, 2h));
  CHECK(s.system().time().now() - begin >= 2h);
}

TEST_CASE("ids of a simulation begin at one", "[runtime]") {
  std::vector<actor_ref> all;
  std::uint64_t sum = 0;
  simulation s{9};
  CHECK(s.system().spawn({"gossip", "a"}, make<gossip>(&all, &sum)).id() == 1);
  CHECK(s.system().spawn({"gossip", "b"}, make<gossip>(&all, &sum)).id() == 2);
}

}  // namespace troupe::runtime
