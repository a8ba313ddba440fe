// Objects that expire by a lease of the log.
#include "persistence/replica/leased_log.hpp"

#include <catch2/catch.hpp>

#include "etcd/etcd_server.hpp"
#include "persistence/engine/memory_engine.hpp"
#include "persistence/etcd/etcd.hpp"
#include "persistence/fixture.hpp"
#include "persistence/model_log.hpp"
#include "persistence/replica/defaults.hpp"
#include "persistence/replica/replicated_store.hpp"
#include "support/skip.hpp"

namespace troupe::persistence::testing {

namespace {

using std::chrono::seconds;

const lease_rule rule{key_of("event"), seconds{3'600}};

std::unique_ptr<replicated_store> open_over(std::unique_ptr<shared_log> log,
                                            const std::string& member = "one") {
  auto opened =
      replicated_store::open({}, memory_engine_on(std::make_shared<memory_disk>()), std::move(log),
                             "one log", member, {.answer = seconds{50}});  // etcd on a busy disk
  REQUIRE(opened);
  return std::move(*opened);
}

std::unique_ptr<replicated_store> open_on(model_cluster& cluster) {
  auto made = open_over(
      std::make_unique<leased_log>(std::make_unique<model_log>(cluster, model_faults{}), rule));
  reach(*made);
  return made;
}

// A log that grants no lease.
class poor_log final : public forwarding_log {
 public:
  explicit poor_log(std::unique_ptr<shared_log> log) : forwarding_log{std::move(log)} {}
  ~poor_log() override { end(); }
  void grant(seconds, std::function<void(expected<lease_id>)> done) override {
    call_later({}, [done = std::move(done)] { done(fail(errc::unknown, "no quorum")); });
  }
};

}  // namespace

TEST_CASE("a lease is given for a twentieth of its time, at most a minute, and to 1,000 objects") {
  const shared_lease::time_point begin{seconds{1'000}};
  shared_lease lease{seconds{3'600}};
  CHECK(lease.asked_time() == seconds{3'660});
  CHECK_FALSE(lease.take(1, begin));
  lease.begin(7, begin);
  CHECK(lease.take(1, begin) == 7);
  CHECK(lease.take(999, begin + seconds{60}) == 7);
  CHECK_FALSE(lease.take(1, begin + seconds{60}));
  lease.begin(8, begin);
  CHECK(lease.take(1, begin) == 8);
  CHECK_FALSE(lease.take(1, begin + seconds{61}));
  lease.forget(7);
  CHECK(lease.take(1, begin) == 8);
  lease.forget(8);
  CHECK_FALSE(lease.take(1, begin));

  shared_lease of_seconds{seconds{2}};
  CHECK(of_seconds.asked_time() == seconds{2});
  of_seconds.begin(1, begin);
  CHECK(of_seconds.take(1, begin + seconds{1}) == 1);
  CHECK_FALSE(of_seconds.take(1, begin + seconds{1}));
}

TEST_CASE("objects that share a lease expire at one revision, without a transaction as the cause",
          "[replica][leases]") {
  const captured_log log;
  model_cluster cluster;
  const auto store = open_on(cluster);
  must(commit(*store, only_if(0, put("event1", "1"))));
  must(commit(*store, only_if(0, put("event2", "2"))));
  must(commit(*store, only_if(0, put("other", "3"))));
  const auto lease = cluster.lease_of(key_of("event1"));
  CHECK(lease != 0);
  CHECK(cluster.lease_of(key_of("event2")) == lease);
  CHECK(cluster.lease_of(key_of("other")) == 0);

  const auto before = cluster.newest();
  cluster.end(lease);
  CHECK(reach(*store) == before + 1);
  CHECK(contents(store->read()).size() == 1);
  const auto told = store->changes(before, 10);
  REQUIRE(told);
  REQUIRE(told->size() == 2);
  for (const auto& each : *told) {
    CHECK(each.at == before + 1);
    CHECK(each.type == change_type::removed);
    CHECK(each.cause.author.empty());
  }
  // Later writes work as before, and a recreated object gets a new lease.
  must(commit(*store, only_if(0, put("event1", "4"))));
  CHECK(cluster.lease_of(key_of("event1")) != lease);
}

TEST_CASE("a rewritten object gets the newest lease, an unchanged one keeps its own",
          "[replica][leases]") {
  const captured_log log;
  model_cluster cluster;
  const auto store = open_on(cluster);
  // A lease of another program, such as kube-apiserver.
  const auto foreign = cluster.grant();
  const auto at = must(commit(*store, only_if(0, put("event1", "1"))));
  must(commit(*store, only_if(0, put("event2", "2"))));
  for (const auto* name : {"event1", "event2"})
    cluster.execute({{}, {{key_of(name), cluster.find(key_of(name))->value, foreign}}});
  CHECK(cluster.lease_of(key_of("event1")) == foreign);
  reach(*store);
  const auto now = store->read().find(key_of("event1"))->revision();
  CHECK(now > at);
  must(commit(*store, only_if(now, put("event1", "1, again"))));
  CHECK(cluster.lease_of(key_of("event1")) != foreign);
  cluster.end(foreign);
  reach(*store);
  CHECK(store->read().find(key_of("event1")) != nullptr);
  CHECK(store->read().find(key_of("event2")) == nullptr);
}

TEST_CASE("a lease that has ended before its time is replaced, and the write happens once",
          "[replica][leases]") {
  const captured_log log;
  model_cluster cluster;
  const auto store = open_on(cluster);
  must(commit(*store, only_if(0, put("event1", "1"))));
  cluster.end_all_leases();
  must(commit(*store, just(put("event1", "2"))));
  reach(*store);
  CHECK(value_of(store->read().find(key_of("event1"))) == "2");
  CHECK(cluster.lives(cluster.lease_of(key_of("event1"))));
  const auto& steps = cluster.witness();
  const auto writes = std::count_if(steps.begin(), steps.end(), [](const log_step& step) {
    return std::any_of(step.changes.begin(), step.changes.end(), [](const log_change& each) {
      return each.key == key_of("event1") && each.value;
    });
  });
  CHECK(writes == 2);
}

TEST_CASE("more objects than may share a lease get another one", "[replica][leases]") {
  const captured_log log;
  model_cluster cluster;
  const auto store = open_on(cluster);
  std::atomic<std::size_t> written{0};
  const auto count = defaults::lease_objects + 100;
  for (std::size_t i = 0; i < count; ++i)
    store->submit(only_if(0, put("event" + std::to_string(i), "1")),
                  [&](const outcome& result) { written += result ? 1 : 0; });
  REQUIRE(eventually([&] { return written == count; }));
  std::map<lease_id, std::size_t> sharing;
  for (std::size_t i = 0; i < count; ++i)
    ++sharing[cluster.lease_of(key_of("event" + std::to_string(i)))];
  CHECK(sharing.size() == 2);
  for (const auto& [lease, objects] : sharing)
    CHECK(objects <= defaults::lease_objects);
}

TEST_CASE("an object that needs a lease is refused when none is granted, other writes continue",
          "[replica][leases]") {
  const captured_log log;
  model_cluster cluster;
  auto poor = std::make_unique<poor_log>(std::make_unique<model_log>(cluster, model_faults{}));
  const auto store = open_over(std::make_unique<leased_log>(std::move(poor), rule));
  const auto refused = commit(*store, just(put("event1", "1")));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::read_only);
  must(commit(*store, just(put("other", "1"))));
}

TEST_CASE("etcd deletes objects with an expired lease, of ours and of another program",
          "[etcd][leases]") {
  if (const auto why = test::etcd_server::missing(); !why.empty()) return test::skip(why);
  const captured_log log;
  const test::etcd_server etcd;
  const auto dial = [&] {
    auto opened = open_etcd({.endpoints = {etcd.endpoint()}});
    REQUIRE(opened);
    return std::move(*opened);
  };
  const lease_rule brief{rule.prefix, seconds{2}};
  const auto one = open_over(std::make_unique<leased_log>(dial(), brief)),
             other = open_over(std::make_unique<leased_log>(dial(), rule), "other");
  // A new etcd first needs an election.
  REQUIRE(eventually([&] { return commit(*one, just(put("first", "1"))).has_value(); }));
  const auto raw = dial();
  std::atomic<lease_id> foreign{0};
  raw->grant(seconds{600}, [&](const expected<lease_id>& given) { foreign = given.value_or(-1); });
  REQUIRE(eventually([&] { return foreign > 0; }));

  must(commit(*one, only_if(0, put("event-brief", "1"))));
  must(commit(*other, only_if(0, put("event-long", "1"))));
  std::string stored;
  std::atomic<bool> is_read{false}, done{false};
  raw->read(key_of("event-long"), [&](const expected<std::optional<log_item>>& found) {
    if (found && *found) stored = (*found)->value;
    is_read = true;
  });
  REQUIRE(eventually([&] { return is_read.load(); }));
  raw->submit({{}, {{key_of("event-foreign"), stored, foreign}}},
              [&](const log_answer&) { done = true; });
  REQUIRE(eventually([&] { return done.load(); }));
  const auto gone = [](const store& from, const char* name) {
    return from.read().find(key_of(name)) == nullptr;
  };
  for (const auto* each : {one.get(), other.get()}) {
    CHECK(eventually([&] { return !gone(*each, "event-foreign"); }));
    CHECK(eventually([&] { return gone(*each, "event-brief"); }));
    CHECK_FALSE(gone(*each, "event-long"));
  }
  // The stores never wrote this object, so it expires with its original lease.
  raw->revoke(foreign, [] {});
  for (const auto* each : {one.get(), other.get()}) {
    CHECK(eventually([&] { return gone(*each, "event-foreign"); }));
    CHECK_FALSE(gone(*each, "event-long"));
  }
  // etcd refuses an expired lease with a distinct error.
  std::atomic<bool> ended{false};
  raw->submit({{}, {{key_of("event-foreign"), stored, foreign}}},
              [&](const log_answer& told) { ended = told.lease_ended; });
  CHECK(eventually([&] { return ended.load(); }));
}

}  // namespace troupe::persistence::testing
