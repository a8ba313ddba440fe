// Stores over a real etcd.
#include "persistence/etcd/etcd.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <future>
#include <thread>

#include "etcd/etcd_server.hpp"
#include "persistence/counters.hpp"
#include "persistence/engine/memory_engine.hpp"
#include "persistence/engine/rocks_engine.hpp"
#include "persistence/etcd/old_state.hpp"
#include "persistence/replica/blocking_log.hpp"
#include "persistence/replica/forwarding_log.hpp"
#include "persistence/replica/replicated_store.hpp"
#include "support/skip.hpp"

namespace troupe::persistence::testing {
namespace {

using test::etcd_server;

// A quota that a few large objects exceed.
constexpr std::size_t small_quota_bytes = 8'000'000, filler_bytes = 1'000'000;
// For etcd on a busy disk: it only ends tests that hang.
constexpr std::chrono::seconds answer_limit{50};

std::unique_ptr<shared_log> dial(const etcd_server& etcd) {
  auto log = open_etcd({.endpoints = {etcd.endpoint()}});
  REQUIRE(log);
  return std::move(*log);
}

std::unique_ptr<replicated_store> open_over(std::unique_ptr<shared_log> log,
                                            const std::string& session,
                                            const std::string& directory = {},
                                            log_limits limits = {}) {
  store_options options;
  options.directory = directory;
  options.cluster_id = "one";
  auto opened =
      replicated_store::open(options,
                             directory.empty() ? memory_engine_on(std::make_shared<memory_disk>())
                                               : rocks_engine_in(directory),
                             std::move(log), "etcd", session, limits);
  REQUIRE(opened);
  // etcd elects its leader first.
  REQUIRE(eventually([&] {
    std::atomic<int> passed{0};
    (*opened)->barrier([&](const expected<revision>& reached) { passed = reached ? 1 : 2; });
    return eventually([&] { return passed != 0; }) && passed == 1;
  }));
  return std::move(*opened);
}

std::unique_ptr<replicated_store> open_on(const etcd_server& etcd, const std::string& session,
                                          const std::string& directory = {}) {
  return open_over(dial(etcd), session, directory);
}

// A member of etcd that leaves out the first object of a step with two.
class lossy_log final : public forwarding_log {
 public:
  explicit lossy_log(std::unique_ptr<shared_log> log) : forwarding_log{std::move(log)} {}
  ~lossy_log() override { end(); }

  void follow(revision after, log_reader& to) override {
    follow_through(after, std::make_unique<reader>(to));
  }

 private:
  struct reader final : log_reader {
    explicit reader(log_reader& next) : to{next} {}
    void on_steps(std::vector<log_step> steps) override {
      for (auto& each : steps)
        if (each.changes.size() > 1 && !each.changes[1].key.starts_with(own_prefix))
          each.changes.erase(each.changes.begin());
      to.on_steps(std::move(steps));
    }
    void on_end(error reason) override { to.on_end(std::move(reason)); }
    log_reader& to;
  };
};

}  // namespace

TEST_CASE("releases of etcd that may answer with an old state are known", "[etcd]") {
  for (const auto* each : {"3.3.27", "3.4.23", "3.4.41", "3.5.0", "3.5.27", "3.6.8"})
    CHECK(may_read_old_state(each));
  for (const auto* each :
       {"3.4.42", "3.5.28", "3.6.9", "3.6.10", "3.7.0", "4.0.0", "", "3", "x.4.1"})
    CHECK_FALSE(may_read_old_state(each));
}

TEST_CASE("a client of etcd that has nothing under way closes", "[etcd]") {
  for (int i = 0; i < 1'000; ++i) {
    auto log = open_etcd({.endpoints = {"http://127.0.0.1:1"}});
    REQUIRE(log);
    std::atomic<bool> ran{false};
    (*log)->call_later({}, [&] { ran = true; });
    REQUIRE(eventually([&] { return ran.load(); }));
    (*log)->close();
  }
}

TEST_CASE("writes over etcd are visible to every control plane", "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return test::skip(why);
  const captured_log log;
  const etcd_server etcd;
  const auto one = open_on(etcd, "one"), other = open_on(etcd, "other");
  const auto at = must(commit(*one, only_if(0, put("a", "1"))));
  CHECK(reach(*other) >= at);
  CHECK(contents(other->read()) == contents(one->read()));
  const auto refused = commit(*other, only_if(0, put("a", "2")));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::conflict);
  CHECK(refused.error().actual == at);
  must(commit(*other, only_if(at, remove("a"))));
  reach(*one);
  CHECK(one->read().size() == 0);
  const auto all = other->changes(at - 1, 100);
  REQUIRE(all);
  CHECK(all->size() == 2);
}

TEST_CASE("control planes that add to one sum over etcd conflict", "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return test::skip(why);
  const captured_log log;
  const etcd_server etcd;
  const auto one = open_on(etcd, "one"), other = open_on(etcd, "other");
  const auto grouped = [](const char* name, revision seen) {
    auto made = only_if(0, put(name, "v"));
    made.group = {"quota", seen};
    return made;
  };
  const auto seen = other->read().at();
  must(commit(*one, grouped("a", seen)));
  must(commit(*one, grouped("b", seen)));
  const auto refused = commit(*other, grouped("c", seen));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::conflict);
  CHECK(refused.error().key.starts_with(group_prefix));
  must(commit(*other, grouped("c", other->read().at())));
  CHECK_FALSE(commit(*one, grouped("d", seen)));
}

TEST_CASE("the audit finds an object that a watch of etcd left out, and nothing else",
          "[etcd][audit]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return test::skip(why);
  captured_log log;
  const etcd_server etcd;
  const log_limits often{.check_period = std::chrono::milliseconds{500}};
  const auto one = open_over(dial(etcd), "one", {}, often);
  const auto other = open_over(std::make_unique<lossy_log>(dial(etcd)), "other", {}, often);
  // More than a page of etcd's, with writes under way while they are compared.
  std::atomic<int> written{0};
  constexpr int objects = 1'200;
  for (int i = 0; i < objects; ++i)
    one->submit(just(put("before" + std::to_string(i), "1")), [&](const outcome&) { ++written; });
  REQUIRE(eventually([&] { return written == objects; }));
  reach(*other);
  CHECK(contents(other->read()) == contents(one->read()));
  CHECK(other->audit_differences() == 0);

  auto both = just(put("left-out", "1"));
  both.mutations.push_back(put("kept", "1"));
  const auto at = must(commit(*one, std::move(both)));
  REQUIRE(eventually([&] { return other->audit_differences() != 0; }));
  REQUIRE(eventually([&] { return contents(other->read()) == contents(one->read()); }));
  CHECK(other->audit_differences() == 1);
  CHECK(one->audit_differences() == 0);
  CHECK(other->stats().compacted > at);
  CHECK_THAT(log.take(), Catch::Contains(key_of("left-out") + " is absent here"));
  must(commit(*other, just(put("after", "1"))));
}

TEST_CASE("etcd is called by itself, and not through the proxy that the environment names",
          "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return test::skip(why);
  const captured_log log;
  const etcd_server etcd;
  // Nobody listens there.
  for (const auto* name : {"http_proxy", "https_proxy", "grpc_proxy"})
    ::setenv(name, "http://127.0.0.1:1", 1);
  const auto one = open_on(etcd, "one");
  for (const auto* name : {"http_proxy", "https_proxy", "grpc_proxy"})
    ::unsetenv(name);
  must(commit(*one, only_if(0, put("a", "1"))));
}

TEST_CASE("an etcd of another cluster is not read in place of one that does not answer", "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return test::skip(why);
  const captured_log log;
  etcd_server etcd;
  const etcd_server other;
  // It must answer before the other one is asked in its place.
  const auto alone = open_etcd({.endpoints = {etcd.endpoint()}});
  REQUIRE(alone);
  blocking_log first{**alone, "etcd", answer_limit};
  REQUIRE(eventually([&] { return first.identity().has_value(); }));
  const auto opened = open_etcd({.endpoints = {etcd.endpoint(), other.endpoint()}});
  REQUIRE(opened);
  auto& both = **opened;
  blocking_log asked{both, "etcd", answer_limit};
  REQUIRE(asked.identity().value_or("") == *first.identity());
  const auto newest = [&] {
    std::promise<expected<revision>> answer;
    both.newest([&](const expected<revision>& reply) { answer.set_value(reply); });
    return answer.get_future().get();
  };
  REQUIRE(newest());
  etcd.signal(SIGKILL);
  for (int i = 0; i < 6; ++i) {
    const auto reply = newest();
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == errc::unknown);
  }
  etcd.restart();
  CHECK(eventually([&] { return newest().has_value(); }));
}

TEST_CASE("a member of etcd that does not renew a lease in time is left for another one",
          "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return test::skip(why);
  const captured_log log;
  const etcd_server silent, other;
  const auto alone = dial(other);
  blocking_log asked{*alone, "etcd", answer_limit};
  REQUIRE(eventually([&] { return asked.identity().has_value(); }));
  const auto opened = open_etcd(
      {.endpoints = {silent.endpoint(), other.endpoint()}, .read_limit = std::chrono::minutes{10}});
  REQUIRE(opened);
  auto& both = **opened;
  const auto granted = [&] {
    std::promise<expected<lease_id>> answer;
    both.grant(std::chrono::minutes{10},
               [&](const expected<lease_id>& given) { answer.set_value(given); });
    return answer.get_future().get();
  };
  auto lease = granted();
  REQUIRE(eventually([&] { return lease || (lease = granted()); }));
  const auto renewed = [&](std::chrono::milliseconds limit) {
    auto answer = std::make_shared<std::promise<expected<std::chrono::seconds>>>();
    auto reply = answer->get_future();
    both.renew(*lease, limit,
               [answer](const expected<std::chrono::seconds>& left) { answer->set_value(left); });
    REQUIRE(reply.wait_for(answer_limit) == std::future_status::ready);
    return reply.get();
  };
  CHECK(renewed(answer_limit));
  silent.signal(SIGSTOP);
  const auto late = renewed(std::chrono::milliseconds{300});
  REQUIRE_FALSE(late);
  CHECK(late.error().code == errc::unknown);
  // The other one does not know the lease.
  const auto next = renewed(answer_limit);
  REQUIRE(next);
  CHECK(next->count() == 0);
}

TEST_CASE("two control planes lose no write while etcd stands still and is killed", "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return test::skip(why);
  const captured_log log;
  etcd_server etcd;
  const auto one = open_on(etcd, "one"), other = open_on(etcd, "other");
  counters clients{1};
  const auto load = [&](int times) {
    for (int i = 0; i < times; ++i) {
      clients.increment(i % 2 == 0 ? *one : *other);
      if (i % 20 == 0) REQUIRE(eventually([&] { return clients.is_answered(); }));
    }
  };
  load(200);
  for (int i = 0; i < 10; ++i)
    clients.increment(*one);
  etcd.signal(SIGSTOP);
  for (int i = 0; i < 10; ++i)
    clients.increment(*other);
  etcd.signal(SIGCONT);
  load(100);
  for (int i = 0; i < 10; ++i)
    clients.increment(*one);
  etcd.restart();
  load(100);
  REQUIRE(eventually([&] { return clients.is_answered(); }));
  reach(*one);
  reach(*other);
  clients.check(one->read());
  CHECK(contents(one->read()) == contents(other->read()));
}

TEST_CASE("a leader that resigns is replaced at once, one that falls silent when its lease ends",
          "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return test::skip(why);
  const captured_log log;
  const etcd_server etcd;
  // The first is longer than the test waits: whoever follows has not waited for its end.
  constexpr std::array<std::chrono::seconds, 3> leases{
      std::chrono::minutes{5}, std::chrono::seconds{5}, std::chrono::seconds{5}};
  std::array<std::atomic<revision>, 3> fences{};
  const auto candidate = [&](std::size_t i) {
    auto made = open_on(etcd, "s" + std::to_string(i));
    made->campaign({"s" + std::to_string(i), leases[i]},
                   [&fences, i](revision fence) { fences[i] = fence; });
    return made;
  };
  const auto first = candidate(0);
  REQUIRE(eventually([&] { return fences[0] != 0; }));
  auto second = candidate(1);
  auto late = just(put("a", "of the first term"));
  late.fence = fences[0];
  must(commit(*first, std::move(late)));

  first->resign([] {});
  REQUIRE(eventually([&] { return fences[1] != 0; }));
  CHECK(fences[0] == 0);
  const auto seen = second->stats().leader;
  REQUIRE(seen);
  CHECK(seen->node == "s1");
  CHECK(seen->is_here);
  CHECK(seen->term == fences[1]);
  CHECK(seen->reason == "s0 gave it up");
  auto refused = just(put("a", "too late"));
  refused.fence = fences[1] - 1;
  CHECK(commit(*first, std::move(refused)).error().code == errc::leadership_lost);

  const auto third = candidate(2);
  second.reset();  // nothing revokes its lease
  REQUIRE(eventually([&] { return fences[2] != 0; }, std::chrono::seconds{60}));
  CHECK(third->stats().leader->reason == "s1 was silent longer than its lease");
  CHECK(value_of(third->read().find(key_of("a"))) == "of the first term");
}

TEST_CASE("a full etcd takes deletions, and nothing else", "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return test::skip(why);
  const captured_log log;
  const etcd_server etcd{small_quota_bytes};
  const auto one = open_on(etcd, "one"), other = open_on(etcd, "other");
  const auto at = must(commit(*one, just(put("a", "1"))));
  outcome filled;
  int fillers = 0;
  // etcd compares its quota with the size of its file, which it writes each 100 ms.
  REQUIRE(eventually([&] {
    filled = commit(*one, just(put("filler" + std::to_string(fillers++ % 8), "x", filler_bytes)));
    return !filled && filled.error().code == errc::no_space;
  }));
  const auto created = commit(*other, just(put("b", "1")));
  REQUIRE_FALSE(created);
  CHECK(created.error().code == errc::no_space);
  CHECK_THAT(created.error().message, Catch::Contains("etcdctl alarm disarm"));

  reach(*other);
  const auto old = commit(*other, only_if(at - 1, remove("a")));
  REQUIRE_FALSE(old);
  CHECK(old.error().code == errc::conflict);
  const auto removed = commit(*other, only_if(at, remove("a")));
  must(removed);
  REQUIRE(removed->objects.size() == 1);
  CHECK(value_of(removed->objects[0]) == "1");
  CHECK(removed->objects[0]->revision() == removed->at);
  CHECK(reach(*one) >= removed->at);
  CHECK(contents(one->read()) == contents(other->read()));
  CHECK_FALSE(one->read().find(key_of("a")));
}

TEST_CASE("a control plane that was away goes on from its copy", "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return test::skip(why);
  captured_log log;
  const etcd_server etcd;
  const scratch_directory place;
  { must(commit(*open_on(etcd, "one", place.path()), just(put("a", "1")))); }
  const auto other = open_on(etcd, "other");
  must(commit(*other, just(put("b", "1"))));
  log.take();
  const auto again = open_on(etcd, "again", place.path());
  CHECK(log.take().find("the state at revision") == std::string::npos);
  CHECK(contents(again->read()) == contents(other->read()));
}

TEST_CASE("a state of large objects is read in pages that arrive within the limit", "[etcd]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return test::skip(why);
  constexpr std::size_t objects = 100, object_bytes = 1'000'000;
  const captured_log quiet;
  const etcd_server etcd;
  const auto filled = open_etcd({.endpoints = {etcd.endpoint()}});
  REQUIRE(filled);
  blocking_log to{**filled, "etcd", std::chrono::seconds{60}};
  for (std::size_t i = 0; i < objects; ++i)
    REQUIRE(to.submit({{}, {{"/large/" + std::to_string(i), std::string(object_bytes, 'x')}}}));
  // All objects in one page take longer.
  const auto opened =
      open_etcd({.endpoints = {etcd.endpoint()}, .read_limit = std::chrono::milliseconds{100}});
  REQUIRE(opened);
  blocking_log from{**opened, "etcd", std::chrono::seconds{60}};
  std::size_t seen = 0, pages = 0;
  std::string after;
  for (bool more = true; more; ++pages) {
    const auto page = from.list({.after = after});
    REQUIRE(page);
    REQUIRE_FALSE(page->items.empty());
    seen += page->items.size();
    after = page->items.back().key;
    more = page->more;
  }
  CHECK(seen == objects);
  CHECK(pages > 1);
}

}  // namespace troupe::persistence::testing
