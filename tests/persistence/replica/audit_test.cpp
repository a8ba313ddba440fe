// The audit of a replica: what a step lost is found and read again.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "persistence/fixture.hpp"
#include "persistence/replica/based_log.hpp"
#include "persistence/replica/model_plane.hpp"
#include "persistence/replica/replica_audit.hpp"
#include "persistence/replica/upstream_log.hpp"

namespace troupe::persistence::testing {
namespace {

transaction two(mutation first, mutation second) {
  auto made = just(std::move(first));
  made.mutations.push_back(std::move(second));
  return made;
}

// Runs as many check periods.
void run_periods(model_plane& at, int periods) {
  for (int i = 0; i < periods; ++i) {
    at.log->fire_slow();
    at.log->run();
  }
}

// Records the pages that the audit requests, and refuses some.
struct audited_log final : forwarding_log {
  explicit audited_log(std::unique_ptr<shared_log> log) : forwarding_log{std::move(log)} {}

  void list(log_range range, std::function<void(expected<log_page>)> done) override {
    if (!range.keys_only) return log().list(std::move(range), std::move(done));
    pages.push_back(range);
    if (!refuses) return log().list(std::move(range), std::move(done));
    log().call_later({}, [done = std::move(done)] { done(fail(errc::compacted, "compacted")); });
  }

  std::vector<log_range> pages;
  bool refuses = false;
};

// A store over `log`, which is on top of `model`.
std::unique_ptr<replicated_store> open_on_model(std::unique_ptr<shared_log> log, model_log& model) {
  auto opened = replicated_store::open({}, memory_engine_on(std::make_shared<memory_disk>()),
                                       std::move(log), "model", "a");
  REQUIRE(opened);
  model.run();
  return std::move(*opened);
}

}  // namespace

TEST_CASE("an object that a step lost is found by the audit, and clients learn of it",
          "[replica][audit]") {
  // Which of the two changes is lost depends on the seed.
  const auto seed = GENERATE(range(1, 9));
  enum change : std::uint8_t { creation, update, removal };
  const auto lost = GENERATE(creation, update, removal);
  CAPTURE(seed, lost);
  captured_log log;
  model_cluster cluster;
  model_plane one{cluster, "a", {}};
  model_plane other{cluster, "b", {.seed = static_cast<std::uint64_t>(seed), .partial = 1}};
  const auto at = must(one.commit(two(put("a", "1"), put("b", "1"))));
  if (lost != creation) {
    other.log->run();
    run_periods(other, 10);
    REQUIRE(contents(other.store->read()) == contents(one.store->read()));
    must(one.commit(lost == update ? two(put("a", "2"), put("b", "2"))
                                   : two(remove("a"), remove("b"))));
  }
  other.log->run();
  const auto found = other.store->audit_differences();
  REQUIRE(contents(other.store->read()) != contents(one.store->read()));
  const auto seen = other.store->read().at();
  CHECK(seen >= at);
  revision after = 0;
  other.store->observe([&](revision since, const change_batch&) { after = since; });
  log.take();
  // No other write follows.
  run_periods(other, 10);
  CHECK(contents(other.store->read()) == contents(one.store->read()));
  CHECK(other.store->audit_differences() == found + 1);
  // An observer that continues from `seen` finds that history began again.
  CHECK(after > seen);
  CHECK(other.store->stats().compacted > seen);
  const auto logged = log.take();
  CHECK_THAT(logged, Catch::Contains("objects differ from the log, 1 in all"));
  CHECK_THAT(logged, Catch::Contains(key_of("a")) || Catch::Contains(key_of("b")));
  // Once, and never again.
  run_periods(other, 10);
  CHECK(other.store->audit_differences() == found + 1);
  CHECK(one.store->audit_differences() == 0);
}

TEST_CASE("a page is compared with the objects between its ends", "[replica][audit]") {
  const auto store = open(store_options{});
  std::vector<log_item> items;
  for (const auto* name : {"a", "c", "e", "g"}) {
    const auto at = must(commit(*store, just(put(name, "1"))));
    items.push_back({key_of(name), {}, at, at});
  }
  const auto here = store->read();
  const auto differences = [&](const std::string& after, log_page page) {
    return compare_page(here, after, page).examples;
  };
  const auto text = [&](const char* name, const char* local, const char* remote) {
    return std::vector{fmt::format("{} is {} here and {} in the log", key_of(name), local, remote)};
  };
  CHECK(differences({}, {9, items, false}).empty());
  CHECK(differences({}, {9, {items[0], items[1]}, true}).empty());
  CHECK(differences(key_of("a"), {9, {items[1], items[2]}, true}).empty());
  CHECK(differences(key_of("c"), {9, {items[2], items[3]}, false}).empty());
  CHECK(differences(key_of("g"), {9, {}, false}).empty());

  CHECK(differences({}, {9, {items[1]}, true}) ==
        text("a", fmt::format("of revision {}", items[0].modified).c_str(), "absent"));
  CHECK(differences(key_of("e"), {9, {}, false}) ==
        text("g", fmt::format("of revision {}", items[3].modified).c_str(), "absent"));
  CHECK(differences(key_of("c"), {9, {items[2], items[3], {key_of("h"), {}, 9, 9}}, false}) ==
        text("h", "absent", "of revision 9"));
  auto changed = items;
  changed[2].modified = 9;
  CHECK(differences({}, {9, changed, false}) ==
        text("e", fmt::format("of revision {}", items[2].modified).c_str(), "of revision 9"));
  // Keys of no kind.
  CHECK(differences(
            key_of("g"),
            {9,
             {{"/registry/things/x", {}, 9, 9}, {"/troupe/leader", {}, 9, 9}, {"z", {}, 9, 9}},
             false})
            .empty());
}

TEST_CASE("an error of the audit names a few of the objects", "[replica][audit]") {
  const auto store = open(store_options{});
  std::vector<log_item> items;
  for (int i = 0; i < 100; ++i)
    items.push_back({key_of(fmt::format("{:02}", i)), {}, 1, 1});
  const auto found = compare_page(store->read(), {}, {1, items, false});
  CHECK(found.differences == 100);
  CHECK(found.examples.size() == defaults::audit_examples);
}

TEST_CASE("random pages differ where the states differ", "[replica][audit]") {
  constexpr int names = 40;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    const auto store = open(store_options{});
    std::map<std::string, revision> here, there;
    for (int i = 0; i < names; ++i) {
      const auto name = fmt::format("{:02}", i);
      if (random() % 2 == 0) here[key_of(name)] = must(commit(*store, just(put(name, "1"))));
      if (const auto found = here.find(key_of(name)); found != here.end() && random() % 5 != 0)
        there[key_of(name)] = found->second;
      if (random() % 8 == 0) there[key_of(name)] = 1'000;
    }
    std::size_t wanted = 0;
    for (const auto& [key, at] : here)
      wanted += there.contains(key) ? there[key] != at : 1;
    for (const auto& [key, at] : there)
      wanted += here.contains(key) ? 0 : 1;
    std::size_t found = 0;
    std::string after;
    for (bool more = true; more;) {
      log_page page{9, {}, false};
      const auto size = 1 + random() % 5;
      auto next = there.upper_bound(after);
      for (; next != there.end() && page.items.size() < size; ++next)
        page.items.push_back({next->first, {}, next->second, next->second});
      more = page.more = next != there.end();
      found += compare_page(store->read(), after, page).differences;
      if (more) after = page.items.back().key;
    }
    CHECK(found == wanted);
  }
}

TEST_CASE("the audit reads one page of keys in each period, and all of them again and again",
          "[replica][audit]") {
  const captured_log quiet;
  model_cluster cluster;
  auto model = std::make_unique<model_log>(cluster, model_faults{.threaded = false});
  auto& steps = *model;
  auto made = std::make_unique<audited_log>(std::move(model));
  auto& log = *made;
  const auto store = open_on_model(std::move(made), steps);
  for (int i = 0; i < 12; ++i)
    store->submit(just(put(fmt::format("{:02}", i), "1")), [](const outcome&) {});
  steps.run();
  // The key that the page of the next period begins after.
  const auto period = [&] {
    log.pages.clear();
    steps.fire_slow();
    steps.run();
    REQUIRE(log.pages.size() == 1);
    CHECK(log.pages.front().at == cluster.newest());
    return log.pages.front().after;
  };
  // The model's pages have five keys; the store's own two keys are on the last one.
  const std::vector<std::string> starts{{}, key_of("04"), key_of("09")};
  for (int i = 0; i < 3; ++i)
    for (const auto& each : starts)
      CHECK(period() == each);
  // One that cannot be read is requested again.
  CHECK(period() == starts[0]);
  log.refuses = true;
  CHECK(period() == starts[1]);
  log.refuses = false;
  CHECK(period() == starts[1]);
  CHECK(period() == starts[2]);
  // While one is under way, no other is requested.
  log.pages.clear();
  steps.fire_slow();
  steps.fire_slow();
  CHECK(log.pages.size() == 1);
}

TEST_CASE("a full log delays the repair until it has space", "[replica][audit]") {
  const captured_log quiet;
  model_cluster cluster;
  model_plane one{cluster, "a", {.partial = 1}};
  model_plane other{cluster, "b", {}};
  must(other.commit(two(put("a", "1"), put("b", "1"))));
  one.log->run();
  cluster.full(true);
  for (int i = 0; i < 20; ++i) {
    one.log->fire_slow();
    for (int j = 0; j < 20; ++j)
      one.log->step();
  }
  CHECK(one.store->audit_differences() == 1);
  CHECK(one.store->read().size() == 1);
  CHECK_FALSE(one.store->stats().read_only);
  cluster.full(false);
  run_periods(one, 10);
  CHECK(contents(one.store->read()) == contents(other.store->read()));
  CHECK(one.store->audit_differences() == 1);
}

TEST_CASE("keys that are no objects here, and keys in other places, are no difference",
          "[replica][audit][upstream]") {
  const captured_log quiet;
  model_cluster cluster;
  for (const auto* key :
       {"/registry/nodes/hidden", "/registry/services/hidden", "/registry/ranges/serviceips",
        "/registry/masterleases/10.0.0.1", "/registry/foreign.example/things/default/x",
        "/registry/podtemplate", "/troupe/cluster", "compact_rev_key", "z"})
    cluster.execute({{}, {{key, "v"}}});
  auto made = std::make_unique<model_log>(cluster, model_faults{.partial = 1, .threaded = false});
  auto& log = *made;
  const auto store =
      open_on_model(std::make_unique<based_log>(
                        std::make_unique<upstream_log>(std::move(made), upstream_target{}), 1'000),
                    log);
  const auto node = [](const std::string& name) {
    auto content = std::make_unique<api::core::v1::Node>();
    content->mutable_metadata()->set_name(name);
    const auto& kind = api::kind_of<api::core::v1::Node>();
    return mutation{kind.key({}, name), &kind, std::move(content)};
  };
  for (const auto* name : {"a", "b", "c", "d", "e", "f"}) {
    store->submit(just(node(name)), [](const outcome& result) { CHECK(result); });
    store->submit(just(put(name, "1")), [](const outcome& result) { CHECK(result); });
  }
  log.run();
  REQUIRE(store->read().size() == 12);
  const auto audit_all = [&] {
    for (int i = 0; i < 40; ++i) {
      log.fire_slow();
      log.run();
    }
  };
  audit_all();
  CHECK(store->audit_differences() == 0);
  // A difference in another place is found.
  cluster.execute({{}, {{"/registry/minions/a", {}}, {"/registry/minions/b", {}}}});
  log.run();
  REQUIRE(store->read().size() == 11);
  audit_all();
  CHECK(store->audit_differences() == 1);
  CHECK(store->read().size() == 10);
}

}  // namespace troupe::persistence::testing
