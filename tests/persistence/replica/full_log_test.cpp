// A store over a log without space: it takes what only removes objects, and reports it correctly.
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>

#include "persistence/fixture.hpp"
#include "persistence/replica/model_plane.hpp"
#include "support/seeds.hpp"

namespace troupe::persistence::testing {
namespace {

constexpr std::uint64_t seeds = 200;

}  // namespace

// The seeds decide whether the step or the answer comes first.
TEST_CASE("a full log takes what only removes objects", "[replica][seeds]") {
  test::for_each_seed(seeds, [](std::uint64_t seed) {
    const captured_log quiet;
    model_cluster cluster;
    model_plane one{cluster, "a", {.seed = seed}}, other{cluster, "b", {.seed = seed + seeds}};
    const auto at = must(one.commit(just(put("kept", "1"))));
    const auto last = must(one.commit(just(put("removed", "2"))));
    other.log->run();
    cluster.full(true);
    for (const auto* name : {"new", "kept"}) {
      const auto refused = one.commit(just(put(name, "3")));
      REQUIRE_FALSE(refused);
      CHECK(refused.error().code == errc::no_space);
    }
    const auto conflict = other.commit(only_if(at, remove("removed")));
    REQUIRE_FALSE(conflict);
    CHECK(conflict.error().code == errc::conflict);
    CHECK(conflict.error().actual == last);

    const auto removed = other.commit(only_if(last, remove("removed")));
    must(removed);
    REQUIRE(removed->objects.size() == 1);
    CHECK(value_of(removed->objects[0]) == "2");
    CHECK(removed->objects[0]->revision() == removed->at);
    one.log->run();
    for (const auto* each : {&one, &other})
      CHECK(contents(each->store->read()) == std::vector{fmt::format("kept=1@{}", at)});

    CHECK(must(one.commit(just(remove("absent")))) == removed->at);
    cluster.full(false);
    must(one.commit(just(put("new", "3"))));
  });
}

TEST_CASE("a full log is shown, and named once in the log, until a write succeeds", "[replica]") {
  captured_log log;
  model_cluster cluster;
  model_plane one{cluster, "a", {}};
  must(one.commit(just(put("kept", "1"))));
  must(one.commit(just(put("removed", "1"))));
  CHECK_FALSE(one.store->stats().log_full);
  cluster.full(true);
  static_cast<void>(log.take());
  for (const auto* name : {"new", "newer"})
    CHECK(one.commit(just(put(name, "1"))).error().code == errc::no_space);
  CHECK(one.store->stats().log_full);
  const auto text = log.take();
  const auto named = text.find("database space exceeded");
  CHECK(named != text.npos);
  CHECK(text.find("database space exceeded", named + 1) == text.npos);
  must(one.commit(just(remove("removed"))));
  CHECK(one.store->stats().log_full);
  cluster.full(false);
  must(one.commit(just(put("new", "1"))));
  CHECK_FALSE(one.store->stats().log_full);
}

TEST_CASE("a removal from a full log is reported as it happened, whatever is lost between",
          "[replica][seeds]") {
  constexpr int objects = 20, steps = 400;
  test::for_each_seed(seeds, [](std::uint64_t seed) {
    const captured_log quiet;
    model_cluster cluster;
    model_plane one{cluster, "a", {.seed = seed, .lost = 0.2, .cut = 0.1}};
    for (int i = 0; i < objects; ++i)
      must(one.commit(just(put(std::to_string(i), "1"))));
    cluster.full(true);
    std::vector<std::optional<outcome>> told(objects);
    for (int i = 0; i < objects; ++i) {
      const auto name = std::to_string(i);
      const auto now = one.store->read().find(key_of(name));
      REQUIRE(now);
      one.store->submit(only_if(now->revision(), remove(name)), [&, i](const outcome& result) {
        told[static_cast<std::size_t>(i)] = result;
      });
      for (int j = 0; j < steps / objects; ++j)
        one.log->step();
    }
    // The session cannot be raised before.
    cluster.full(false);
    one.log->run();
    for (int i = 0; i < objects; ++i) {
      const auto& answer = told[static_cast<std::size_t>(i)];
      REQUIRE(answer);
      const bool is_there = cluster.find(key_of(std::to_string(i))).has_value();
      if (*answer) {
        CHECK_FALSE(is_there);
        CHECK(value_of((*answer)->objects.at(0)) == "1");
      } else {
        CHECK(answer->error().code == errc::unknown);
      }
    }
  });
}

}  // namespace troupe::persistence::testing
