// A store over a log that others share: its responses match the log, whatever is lost in
// transit.
#include "persistence/replica/replicated_store.hpp"

#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>

#include "persistence/counters.hpp"
#include "persistence/engine/memory_engine.hpp"
#include "persistence/engine/rocks_engine.hpp"
#include "persistence/fixture.hpp"
#include "persistence/model_log.hpp"
#include "persistence/repair/salvage.hpp"
#include "persistence/repair/verify.hpp"
#include "persistence/replica/forwarding_log.hpp"
#include "support/seeds.hpp"

namespace troupe::persistence::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t seeds = 200;

store_options small_history() {
  store_options options;
  options.history_revisions = 1'000'000;
  return options;
}

// A control plane that the test advances.
struct plane {
  model_log* log = nullptr;
  std::unique_ptr<replicated_store> store;

  plane(model_cluster& cluster, const std::string& name, model_faults faults,
        std::shared_ptr<memory_disk> disk = std::make_shared<memory_disk>(),
        log_limits limits = {}) {
    faults.threaded = false;
    auto made = std::make_unique<model_log>(cluster, faults);
    log = made.get();
    auto opened = replicated_store::open(small_history(), memory_engine_on(std::move(disk)),
                                         std::move(made), "model", name, limits);
    REQUIRE(opened);
    store = std::move(*opened);
    log->run();
  }
};

// Name and value of each object that the log has below the prefix of the objects.
std::map<std::string, std::string> objects_in(const model_cluster& cluster) {
  auto all = cluster.values();
  std::erase_if(
      all, [](const auto& each) { return std::string_view{each.first}.starts_with(own_prefix); });
  return all;
}

std::map<std::string, std::string> objects_in(const snapshot& state) {
  std::map<std::string, std::string> all;
  state.scan({}, {}, [&](std::string_view key, const api::object_ptr& found) {
    all[std::string{key}] = api::to_storage(found->kind(), found->content());
    return true;
  });
  return all;
}

// As an etcd whose quota a transaction exceeds: it is executed, and refused all the same. The next
// ones are refused only.
struct filling_log final : forwarding_log {
  explicit filling_log(std::unique_ptr<shared_log> log) : forwarding_log{std::move(log)} {}

  void submit(log_transaction request, std::function<void(log_answer)> done) override {
    log_answer full{log_answer::outcome::refused};
    full.reason = {errc::no_space, "etcd: database space exceeded"};
    const auto refuse = [done, full](const log_answer&) { done(full); };
    if (refused == 0 || request.compares.empty()) return log().submit(std::move(request), done);
    if (--refused != 0) return log().submit(std::move(request), refuse);
    // Not executed: only read.
    log().submit({}, refuse);
  }

  int refused = 0;  // transactions that are answered so, the last of which is not executed
};

}  // namespace

TEST_CASE("a transaction that fills the log and is refused for that is reported as it happened",
          "[replica]") {
  const captured_log quiet;
  model_cluster cluster;
  model_faults faults;
  faults.threaded = false;
  auto connection = std::make_unique<model_log>(cluster, faults);
  auto& log = *connection;
  auto filling = std::make_unique<filling_log>(std::move(connection));
  auto& full = *filling;
  auto opened =
      replicated_store::open(small_history(), memory_engine_on(std::make_shared<memory_disk>()),
                             std::move(filling), "model", "a", {});
  REQUIRE(opened);
  log.run();
  std::vector<outcome> results;
  const auto submit = [&](const char* key) {
    (*opened)->submit(just(put(key, "v")), [&](const outcome& made) { results.push_back(made); });
    log.run();
  };
  full.refused = 2;
  // Its step comes after the answer.
  log.stall_steps();
  submit("a");
  REQUIRE(results.empty());
  SECTION("by its step") {
    log.resume_steps();
    log.run();
    REQUIRE(results.size() == 1);
    REQUIRE(results[0]);
    CHECK((*opened)->read().find(key_of("a")));
    submit("b");
    REQUIRE(results.size() == 2);
    REQUIRE_FALSE(results[1]);
    CHECK(results[1].error().code == errc::no_space);
    CHECK_FALSE((*opened)->read().find(key_of("b")));
    CHECK(objects_in(cluster).size() == 1);
  }
  SECTION("or as unknown when its step is compacted first") {
    cluster.execute({{}, {{"/registry/other", "v"}}});
    cluster.compact(cluster.newest());
    log.resume_steps();
    log.run();
    REQUIRE(results.size() == 1);
    REQUIRE_FALSE(results[0]);
    CHECK(results[0].error().code == errc::unknown);
    CHECK((*opened)->read().find(key_of("a")));
  }
}

TEST_CASE("three control planes agree with the log, whatever is lost between", "[replica][seeds]") {
  test::for_each_seed(seeds, [](std::uint64_t seed) {
    const captured_log quiet;
    model_cluster cluster;
    std::mt19937_64 random{seed};
    std::vector<plane> planes;
    for (int i = 0; i < 3; ++i)
      planes.emplace_back(
          cluster, "s" + std::to_string(i),
          model_faults{.seed = seed * 3 + std::uint64_t(i), .lost = 0.1, .cut = 0.1});
    counters clients{seed};
    for (int i = 0; i < 300; ++i) {
      auto& chosen = planes[random() % planes.size()];
      if (random() % 4 == 0) clients.increment(*chosen.store);
      if (random() % 100 == 0) cluster.compact(cluster.newest());
      chosen.log->step();
    }
    for (int i = 0; i < 3; ++i)
      for (auto& each : planes) {
        each.log->fire_slow();  // a stream that was cut many times in a row is retried late
        each.log->run();
      }
    clients.check(planes[0].store->read());
    for (auto& each : planes)
      CHECK(objects_in(each.store->read()) == objects_in(cluster));
  });
}

TEST_CASE("a transaction whose response is lost is executed at most once", "[replica][seeds]") {
  test::for_each_seed(seeds, [](std::uint64_t seed) {
    const captured_log quiet;
    model_cluster cluster;
    plane one{cluster, "a", {.seed = seed, .lost = 0.5}};
    // Without a precondition: a second execution would be visible.
    int told = 0;
    revision last = 0;
    for (int i = 0; i < 10; ++i)
      one.store->submit(just(put("k" + std::to_string(i), "v")), [&](const outcome& result) {
        REQUIRE(result);
        CHECK(result->at > last);
        last = result->at;
        ++told;
      });
    one.log->run();
    CHECK(told == 10);
    const auto all = one.store->changes(one.store->stats().compacted, 1'000);
    REQUIRE(all);
    CHECK(all->size() == 10);
  });
}

TEST_CASE("a replica that missed more than the log keeps reads the whole state", "[replica]") {
  const captured_log log;
  model_cluster cluster;
  const auto disk = std::make_shared<memory_disk>();
  {
    plane first{cluster, "a", {}, disk};
    for (const auto* each : {"kept", "changed", "removed"})
      first.store->submit(just(put(each, "1")), [](const outcome&) {});
    first.log->run();
  }
  plane other{cluster, "b", {}};
  other.store->submit(just(put("changed", "2")), [](const outcome&) {});
  other.store->submit(just(remove("removed")), [](const outcome&) {});
  other.store->submit(just(put("added", "1")), [](const outcome&) {});
  other.log->run();
  cluster.compact(cluster.newest());

  plane again{cluster, "c", {}, disk};
  CHECK(contents(again.store->read()) == contents(other.store->read()));
  CHECK(again.store->changes(1, 100).error().code == errc::compacted);
  const auto begin = again.store->read().at();
  other.store->submit(just(put("kept", "2")), [](const outcome&) {});
  other.log->run();
  again.log->run();
  const auto after = again.store->changes(begin, 100);
  REQUIRE(after);
  REQUIRE(after->size() == 1);
  CHECK(value_of(after->front().previous) == "1");
}

TEST_CASE("an observer notices that history begins again", "[replica]") {
  const captured_log log;
  model_cluster cluster;
  plane one{cluster, "a", {}}, other{cluster, "b", {}};
  std::vector<std::pair<revision, revision>> told;
  other.store->observe([&](revision after, const change_batch& batch) {
    told.emplace_back(after, batch->back().at);
  });
  one.store->submit(just(put("a", "1")), [](const outcome&) {});
  one.store->submit(just(put("b", "1")), [](const outcome&) {});
  one.log->run();
  const auto before = other.store->read().at();
  cluster.compact(cluster.newest());
  for (int i = 0; i < 1'000 && told.empty(); ++i)
    other.log->step();
  REQUIRE(told.size() == 1);
  CHECK(told.front().first > before);
  CHECK(contents(other.store->read()) == contents(one.store->read()));
}

TEST_CASE("a replica on disk goes on where it was, and is read again when it is damaged",
          "[replica]") {
  captured_log log;
  model_cluster cluster;
  const scratch_directory place;
  const auto open_at = [&](const std::string& session) {
    auto options = small_history();
    options.directory = place.path();
    auto opened = replicated_store::open(options, rocks_engine_in(place.path()),
                                         std::make_unique<model_log>(cluster, model_faults{}),
                                         "model", session);
    REQUIRE(opened);
    return std::move(*opened);
  };
  {
    const auto store = open_at("a");
    for (int i = 0; i < 50; ++i)
      must(commit(*store, just(put("k" + std::to_string(i % 7), std::to_string(i)))));
  }
  const auto wanted = objects_in(cluster);
  CHECK(log.take().find("the state at revision") != std::string::npos);
  {
    const auto store = open_at("b");
    CHECK(objects_in(store->read()) == wanted);
    CHECK(log.take().find("the state at revision") == std::string::npos);
  }
  for (const auto& each : files_in(place.path(), ".sst"))
    std::filesystem::resize_file(each, std::filesystem::file_size(each) / 2);
  for (const auto& each : files_in(place.path(), ".log"))
    std::filesystem::resize_file(each, 0);
  const auto store = open_at("c");
  reach(*store);
  CHECK(objects_in(store->read()) == wanted);
}

TEST_CASE("only its owner may read a replica", "[replica]") {
  const captured_log log;
  const scratch_directory place;
  model_cluster cluster;
  auto options = small_history();
  options.directory = place.path("new");
  REQUIRE(replicated_store::open(options, rocks_engine_in(options.directory),
                                 std::make_unique<model_log>(cluster, model_faults{}), "model",
                                 "a"));
  CHECK(std::filesystem::status(options.directory).permissions() ==
        std::filesystem::perms::owner_all);
}

TEST_CASE("an independent store is never used as a copy", "[replica]") {
  const captured_log log;
  const scratch_directory place;
  { must(commit(*open(in_directory(place.path())), just(put("a", "1")))); }
  model_cluster cluster;
  auto options = in_directory(place.path());
  const auto refused =
      replicated_store::open(options, rocks_engine_in(place.path()),
                             std::make_unique<model_log>(cluster, model_faults{}), "model", "a");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::incompatible);
  CHECK(value_of(open(in_directory(place.path()))->read().find(key_of("a"))) == "1");
}

TEST_CASE("an answered write is applied before its step arrives, but after earlier steps of others",
          "[replica]") {
  const captured_log log;
  model_cluster cluster;
  std::vector<std::string> answered;
  plane one{cluster, "a", {}}, other{cluster, "b", {}};
  one.log->run();
  one.log->stall_steps();
  const auto change = [&](plane& through, transaction request, const std::string& name) {
    through.store->submit(std::move(request), [&, name](const outcome& result) {
      if (result) answered.push_back(name);
    });
    through.log->run();
  };
  change(one, just(put("a", "1")), "made");
  change(one, just(put("a", "2")), "changed");
  change(one, just(remove("none")), "nothing");
  CHECK(answered == std::vector<std::string>{"made", "changed", "nothing"});
  CHECK(value_of(one.store->read().find(key_of("a"))) == "2");

  change(other, just(put("b", "1")), "elsewhere");
  change(one, just(remove("a")), "removed");
  CHECK(answered.back() == "elsewhere");
  CHECK(value_of(one.store->read().find(key_of("a"))) == "2");
  one.log->resume_steps();
  one.log->run();
  CHECK(answered.back() == "removed");

  // As reported by a store that saw only the steps.
  other.log->run();
  const auto here = one.store->changes(one.store->stats().compacted, 100);
  const auto there = other.store->changes(other.store->stats().compacted, 100);
  REQUIRE(here);
  REQUIRE(there);
  CHECK(lines_of(*here) == lines_of(*there));
  CHECK(lines_of(*here).size() == 4);
}

TEST_CASE("steps that do not come are asked for again", "[replica]") {
  const captured_log log;
  model_cluster cluster;
  int answered = 0;
  plane one{cluster, "a", {}}, other{cluster, "b", {}};
  one.log->run();
  one.log->stall_steps();
  other.store->submit(just(put("b", "1")), [](const outcome&) {});
  other.log->run();
  one.store->submit(just(put("a", "1")), [&](const outcome& result) { answered += !!result; });
  one.log->run();
  CHECK(answered == 0);
  for (int i = 0; i < 2; ++i) {  // two polls without a step
    one.log->fire_slow();
    one.log->run();
  }
  CHECK(answered == 1);
  CHECK(one.store->read().size() == 2);
}

TEST_CASE("waiting for a log that does not answer ends with an error about the possible outcome",
          "[replica]") {
  const captured_log log;
  model_cluster cluster;
  std::vector<errc> told;
  plane one{cluster, "a", {}, std::make_shared<memory_disk>(), {.answer = 0ms}};
  one.log->stall_answers();
  const auto note = [&](const outcome& result) { told.push_back(result.error().code); };
  one.store->submit(just(put("sent", "1")), note);
  one.store->barrier([&](const expected<revision>& reached) {
    if (!reached) told.push_back(reached.error().code);
  });
  one.log->run();
  one.log->fire_slow();
  CHECK(told == std::vector{errc::unknown, errc::unknown});
}

TEST_CASE("transactions that wait for the log are bounded in number and bytes", "[replica]") {
  const captured_log log;
  model_cluster cluster;
  std::vector<errc> told;
  plane one{cluster, "a", {}};
  const auto note = [&](const outcome& result) {
    if (!result) told.push_back(result.error().code);
  };
  const auto size = std::size_t{2} << 20;
  for (std::size_t i = 0; i <= defaults::log_queue_bytes / size; ++i)
    one.store->submit(just(put("k" + std::to_string(i), "v", size)), note);
  REQUIRE_FALSE(told.empty());
  CHECK(told.front() == errc::overloaded);
  transaction many;
  for (std::size_t i = 0; i <= one.store->transaction_limit(); ++i)
    many.mutations.push_back(put("m" + std::to_string(i), "v"));
  one.store->submit(std::move(many), note);
  CHECK(told.back() == errc::invalid);
}

TEST_CASE("the copy of one log is never continued with the steps of another", "[replica]") {
  captured_log log;
  const scratch_directory place;
  const auto open_on = [&](model_cluster& cluster, const std::string& identity) {
    auto options = in_directory(place.path());
    auto opened =
        replicated_store::open(options, rocks_engine_in(place.path()),
                               std::make_unique<model_log>(cluster, model_faults{}), identity);
    REQUIRE(opened);
    reach(**opened);
    return std::move(*opened);
  };
  model_cluster first, second;
  { must(commit(*open_on(first, "first"), just(put("a", "of the first")))); }
  // As many revisions, so that its steps would be consecutive.
  for (int i = 0; i < 20; ++i)
    second.execute({{}, {{"/elsewhere", std::to_string(i)}}});
  const auto store = open_on(second, "second");
  CHECK(store->read().size() == 0);
  CHECK(log.take().find("is of log first, not of second") != std::string::npos);
}

TEST_CASE("a copy is no store of its own", "[replica]") {
  const captured_log log;
  const scratch_directory place;
  model_cluster cluster;
  auto options = in_directory(place.path());
  REQUIRE(replicated_store::open(options, rocks_engine_in(place.path()),
                                 std::make_unique<model_log>(cluster, model_faults{}), "model",
                                 "a"));
  CHECK(refusal_of(place.path()).code == errc::incompatible);
  CHECK(verify(place.path()).error().code == errc::incompatible);
  CHECK(salvage(place.path()).error().code == errc::incompatible);
}

TEST_CASE("one control plane leads at a time, and nothing of a term happens after it",
          "[replica][seeds]") {
  test::for_each_seed(seeds, [](std::uint64_t seed) {
    const captured_log quiet;
    model_cluster cluster;
    std::mt19937_64 random{seed};
    std::vector<plane> planes;
    std::array<revision, 3> fences{};
    for (std::size_t i = 0; i < fences.size(); ++i) {
      const auto name = "s" + std::to_string(i);
      planes.emplace_back(cluster, name,
                          model_faults{.seed = seed * 3 + i, .lost = 0.1, .cut = 0.05});
      planes.back().store->campaign({name, std::chrono::seconds{10}},
                                    [&fences, i](revision fence) { fences[i] = fence; });
    }
    // The leader's last fence, even after the end of its term was reported: late writes
    // count.
    std::array<revision, 3> last{};
    std::map<revision, revision> written;  // of the reported revisions, by fence
    const auto write = [&](std::size_t by, revision fence) {
      auto request = just(put("led", std::to_string(random())));
      request.fence = fence;
      planes[by].store->submit(std::move(request), [&written, fence](const outcome& result) {
        if (result) written[result->at] = fence;
      });
    };
    for (int i = 0; i < 600; ++i) {
      const auto chosen = random() % planes.size();
      if (fences[chosen] != 0) last[chosen] = fences[chosen];
      if (last[chosen] != 0 && random() % 4 == 0) write(chosen, last[chosen]);
      if (random() % 120 == 0) cluster.end_all_leases();
      if (random() % 10 == 0) planes[chosen].log->fire_slow();
      planes[chosen].log->step();
    }
    for (int i = 0; i < 3; ++i)
      for (auto& each : planes) {
        each.log->fire_slow();
        each.log->run();
      }
    REQUIRE(std::count(fences.begin(), fences.end(), 0) == 2);
    // Whoever leads in the end can write.
    const auto leader = static_cast<std::size_t>(
        std::find_if(fences.begin(), fences.end(), [](revision fence) { return fence != 0; }) -
        fences.begin());
    write(leader, fences[leader]);
    planes[leader].log->run();
    REQUIRE_FALSE(written.empty());
    CHECK(written.rbegin()->second == fences[leader]);
    revision newest = 0;
    for (const auto& [at, fence] : written) {
      CHECK(fence >= newest);
      newest = std::max(newest, fence);
      CHECK(at > fence);
    }
  });
}

TEST_CASE("objects of kinds that are not known here are left in the log", "[replica]") {
  const captured_log log;
  model_cluster cluster;
  plane one{cluster, "a", {}};
  cluster.execute({{}, {{"/registry/foreign.example/things/default/x", "{}"}}});
  one.store->submit(just(put("a", "1")), [](const outcome&) {});
  one.log->run();
  CHECK(one.store->read().size() == 1);
  CHECK(cluster.values().contains("/registry/foreign.example/things/default/x"));
}

}  // namespace troupe::persistence::testing
