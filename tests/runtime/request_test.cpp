#include <catch2/catch.hpp>
#include <map>

#include "runtime/defaults.hpp"
#include "runtime/simulation.hpp"
#include "runtime/worker_pool.hpp"
#include "runtime_support.hpp"

namespace troupe::runtime {

using namespace std::chrono_literals;
using test::log_of;

namespace {

struct ask {
  int value = 0;
};
struct answer {
  int value = 0;
};
struct keep {};     // its promise is never answered
struct forget {};   // its promise is dropped
struct explode {};  // its handler throws
struct told {};     // its handler takes no promise
struct unknown {};  // no handler exists
struct release {};  // answers the kept promises

struct oracle : actor {
  const behavior& make_behavior() const override {
    static const behavior table =
        handlers(&oracle::on_ask, &oracle::on_keep, &oracle::on_forget, &oracle::on_explode,
                 &oracle::on_told, &oracle::on_release);
    return table;
  }
  void on_ask(const ask& m, promise<answer> p) { p.deliver({m.value * 2}); }
  void on_keep(const keep&, promise<answer> p) { promises.push_back(std::move(p)); }
  void on_forget(const forget&, promise<answer>) {}
  void on_explode(const explode&, promise<answer>) { throw std::runtime_error{"boom"}; }
  void on_told(const told&) {}
  void on_release(const release&) {
    for (auto& p : promises)
      p.deliver({99});
    promises.clear();
  }
  std::vector<promise<answer>> promises;
};

using reply_result = tl::expected<int, request_error>;

template <class M>
struct question {
  actor_ref to;
  duration timeout;
};

// Sends the same requests from inside an actor.
struct requester : actor {
  explicit requester(log_of<reply_result>* seen) : seen{seen} {}
  const behavior& make_behavior() const override {
    static const behavior table = handlers(
        &requester::on<ask>, &requester::on<keep>, &requester::on<forget>, &requester::on<explode>,
        &requester::on<told>, &requester::on<unknown>, &requester::on_wrong);
    return table;
  }
  template <class M>
  void on(const question<M>& q) {
    request<answer>(q.to, M{}, q.timeout, [this](tl::expected<const answer*, request_error> reply) {
      seen->add(reply ? reply_result{(*reply)->value} : tl::make_unexpected(reply.error()));
    });
  }
  void on_wrong(const question<answer>& q) {
    request<told>(q.to, ask{1}, q.timeout, [this](tl::expected<const told*, request_error> reply) {
      seen->add(reply ? reply_result{0} : tl::make_unexpected(reply.error()));
    });
  }
  log_of<reply_result>* seen;
};

// One simulation with an oracle and an asker, for one request at a time.
struct stage {
  simulation all{7};
  log_of<reply_result> seen;
  actor_ref oracle_ref = all.system().spawn({"oracle", "o"}, make<oracle>());
  actor_ref asker_ref = all.system().spawn({"asker", "a"}, make<requester>(&seen));

  template <class M>
  void put(duration timeout = 5s) {
    asker_ref.tell(question<M>{oracle_ref, timeout});
    all.settle();
  }
  request_error only_error() {
    REQUIRE(seen.size() == 1);
    const auto only = seen.all()[0];
    REQUIRE_FALSE(only);
    return only.error();
  }
};

}  // namespace

TEST_CASE("a request is answered once", "[runtime]") {
  stage s;
  s.put<ask>();
  s.all.advance(1h);
  REQUIRE(s.seen.size() == 1);
  CHECK(s.seen.all()[0].value() == 0);
}

TEST_CASE("a request without an answer ends at its time-out, and a late answer is dropped",
          "[runtime]") {
  stage s;
  s.put<keep>(5s);
  s.all.advance(4999ms);
  CHECK(s.seen.size() == 0);
  s.all.advance(1ms);
  CHECK(s.only_error() == request_error::timeout);
  s.oracle_ref.tell(release{});
  s.all.settle();
  CHECK(s.seen.size() == 1);
}

TEST_CASE("a request to an actor that has ended fails with down", "[runtime]") {
  stage s;
  s.all.system().stop(s.oracle_ref);
  s.all.settle();
  s.put<ask>();
  CHECK(s.only_error() == request_error::down);
}

TEST_CASE("a request to the empty name fails with down", "[runtime]") {
  stage s;
  s.asker_ref.tell(question<ask>{{}, 5s});
  s.all.settle();
  CHECK(s.only_error() == request_error::down);
}

TEST_CASE("a request whose receiver ends before it answered fails with down", "[runtime]") {
  stage s;
  s.put<keep>();
  CHECK(s.seen.size() == 0);
  s.all.system().stop(s.oracle_ref);
  s.all.settle();
  CHECK(s.only_error() == request_error::down);
}

TEST_CASE("a request that waits in the mailbox of an actor that ends fails with down",
          "[runtime]") {
  stage s;
  s.all.settle();
  log_of<request_error> failed;
  for (int i = 0; i < 3; ++i) {
    s.all.system().request<answer>(s.oracle_ref, ask{i}, 5s,
                                   [&](auto reply) { failed.add(reply.error()); });
  }
  s.all.system().stop(s.oracle_ref);
  s.all.settle();
  REQUIRE(failed.size() == 3);
  for (const auto e : failed.all())
    CHECK(e == request_error::down);
}

TEST_CASE("a promise that is dropped breaks the request", "[runtime]") {
  stage s;
  s.put<forget>();
  CHECK(s.only_error() == request_error::broken);
}

TEST_CASE("a handler that throws breaks the request, and the promises that it kept", "[runtime]") {
  stage s;
  s.put<keep>();
  s.put<explode>();
  REQUIRE(s.seen.size() == 2);
  for (const auto& each : s.seen.all())
    CHECK(each.error() == request_error::broken);
}

TEST_CASE("a request that no handler takes, or none that answers, is unhandled", "[runtime]") {
  stage s;
  s.put<unknown>();
  s.put<told>();
  REQUIRE(s.seen.size() == 2);
  for (const auto& each : s.seen.all())
    CHECK(each.error() == request_error::unhandled);
}

TEST_CASE("an answer of another type than was asked for is an error", "[runtime]") {
  stage s;
  s.put<answer>();
  CHECK(s.only_error() == request_error::wrong_reply);
}

TEST_CASE("a full mailbox refuses messages and requests, and takes them again", "[runtime]") {
  stage s;
  s.all.settle();
  std::size_t taken = 0;
  while (taken <= defaults::mailbox_limit && s.oracle_ref.tell(told{}))
    ++taken;
  CHECK(taken == defaults::mailbox_limit);
  log_of<request_error> failed;
  s.all.system().request<answer>(s.oracle_ref, ask{}, 5s,
                                 [&](auto reply) { failed.add(reply.error()); });
  CHECK(failed.size() == 0);  // never inside of the call
  s.all.step();
  REQUIRE(failed.size() == 1);
  CHECK(failed.all()[0] == request_error::mailbox_full);
  s.all.settle();
  CHECK(s.oracle_ref.tell(told{}));
}

TEST_CASE("requests from many threads outside are all answered", "[runtime]") {
  constexpr int threads = 4;
  constexpr int each = 2'000;
  log_of<reply_result> seen;
  runtime::actor_system system;
  const auto to = system.spawn({"oracle", "o"}, make<oracle>());
  std::vector<std::thread> callers;
  for (int t = 0; t < threads; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < each; ++i) {
        system.request<answer>(to, ask{i}, test::patience, [&](auto reply) {
          seen.add(reply ? reply_result{(*reply)->value} : tl::make_unexpected(reply.error()));
        });
      }
    });
  }
  for (auto& c : callers)
    c.join();
  REQUIRE(seen.await(threads * each));
  std::map<int, int> counts;
  for (const auto& o : seen.all())
    ++counts[o.value_or(-1)];
  CHECK(counts.size() == each);
  CHECK(counts[-1] == 0);
}

TEST_CASE("a promise may be answered on a thread outside", "[runtime]") {
  struct delegate : actor {
    explicit delegate(worker_pool* pool) : pool{pool} {}
    const behavior& make_behavior() const override {
      static const behavior table = handlers(&delegate::on_ask);
      return table;
    }
    void on_ask(const ask& m, promise<answer> p) {
      pool->post([value = m.value, p = std::move(p)]() mutable { p.deliver({value + 1}); });
    }
    worker_pool* pool;
  };
  log_of<reply_result> seen;
  worker_pool pool{"answers", 1, 10};
  runtime::actor_system system;
  const auto to = system.spawn({"delegate", "d"}, make<delegate>(&pool));
  system.request<answer>(to, ask{4}, test::patience, [&](auto reply) {
    seen.add(reply ? reply_result{(*reply)->value} : tl::make_unexpected(reply.error()));
  });
  REQUIRE(seen.await(1));
  CHECK(seen.all()[0].value() == 5);
}

TEST_CASE("a request from outside without an answer ends at its time-out", "[runtime]") {
  log_of<request_error> failed;
  runtime::actor_system system;
  const auto to = system.spawn({"oracle", "o"}, make<oracle>());
  system.request<answer>(to, keep{}, 1ms, [&](auto reply) { failed.add(reply.error()); });
  REQUIRE(failed.await(1));
  CHECK(failed.all()[0] == request_error::timeout);
}

}  // namespace troupe::runtime
