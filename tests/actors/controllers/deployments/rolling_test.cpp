#include "actors/controllers/deployments/rolling.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <random>
#include <string>

#include "actors/controllers/deployments/template_hash.hpp"
#include "actors/controllers/kit/share.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/strategy/defaults.hpp"

namespace troupe::actors::deployments {

namespace {

// The limits of a rolling update that are percentages.
fenceposts resolve_percent(std::int32_t surge, std::int32_t unavailable, std::int32_t replicas) {
  const auto share = [replicas](std::int32_t percent, rounding mode) {
    api::intstr::IntOrString given;
    given.set_type(1);
    given.set_str_val(std::to_string(percent) + "%");
    return share_of(given, replicas, mode);
  };
  return resolve(share(surge, rounding::up), share(unavailable, rounding::down), replicas);
}

}  // namespace

TEST_CASE("surge rounds up, unavailable rounds down, and something may always move") {
  const auto posts = resolve_percent(25, 25, 10);
  CHECK(posts.surge == 3);
  CHECK(posts.unavailable == 2);
  CHECK(resolve(0, 0, 10).unavailable == 1);
  CHECK(resolve_percent(1, 1, 3).surge == 1);
  CHECK(resolve(0, 30, 10).unavailable == 10);
}

TEST_CASE("the new set grows as far as the surge allows") {
  const fenceposts posts{.surge = 3, .unavailable = 2};
  CHECK(new_set_size(10, posts, {.key = "new"}, {{.key = "old", .wanted = 10}}) == 3);
  CHECK(new_set_size(10, posts, {.key = "new", .wanted = 3}, {{.key = "old", .wanted = 8}}) == 5);
  CHECK(new_set_size(10, posts, {.key = "new"}, {}) == 10);
  CHECK(new_set_size(10, posts, {.key = "new"}, {{.key = "old", .wanted = 20}}) == 0);
}

TEST_CASE("pods that never became available are the first to go") {
  const fenceposts posts{.surge = 3, .unavailable = 2};
  const auto shrunk = shrink_old_sets(10, posts, {.key = "new", .wanted = 0},
                                      {{.key = "broken", .created = 2, .wanted = 4, .available = 0},
                                       {.key = "good", .created = 1, .wanted = 8, .available = 8}});
  CHECK(shrunk == std::vector<resize>{{"broken", 0}});
}

TEST_CASE("a rolling update respects maxSurge and maxUnavailable at every step and ends") {
  std::mt19937 random{20140821};
  for (int round = 0; round < 300; ++round) {
    const auto replicas = static_cast<std::int32_t>(1 + random() % 40);
    const auto posts = resolve_percent(static_cast<std::int32_t>(random() % 50),
                                       static_cast<std::int32_t>(random() % 50), replicas);
    std::vector<set_size> old{{.key = "a", .created = 1}, {.key = "b", .created = 2}};
    old[0].wanted = old[0].available = static_cast<std::int32_t>(random()) % (replicas + 1);
    old[0].wanted = old[0].available = std::abs(old[0].wanted);
    old[1].wanted = old[1].available = replicas - old[0].wanted;
    set_size fresh{.key = "new", .created = 3};

    int steps = 0;
    while (fresh.available != replicas || old[0].wanted + old[1].wanted != 0) {
      REQUIRE(++steps < 2'000);
      fresh.wanted = new_set_size(replicas, posts, fresh, old);
      REQUIRE(fresh.wanted + old[0].wanted + old[1].wanted <= replicas + posts.surge);
      for (const auto& change : shrink_old_sets(replicas, posts, fresh, old))
        for (auto& set : old)
          if (set.key == change.key) {
            REQUIRE(change.to < set.wanted);
            set.wanted = change.to;
            set.available = std::min(set.available, set.wanted);
          }
      REQUIRE(fresh.available + old[0].available + old[1].available >=
              replicas - posts.unavailable);
      // Some of the new pods become available.
      const auto waiting = fresh.wanted - fresh.available;
      if (waiting > 0) fresh.available += 1 + static_cast<std::int32_t>(random() % waiting);
    }
    CHECK(fresh.wanted == replicas);
  }
}

TEST_CASE("scaling in the middle of an update keeps proportions and adds up exactly") {
  const fenceposts posts{.surge = 3, .unavailable = 2};
  const std::vector<set_size> sets{{.key = "old", .created = 1, .wanted = 8, .max_when_sized = 13},
                                   {.key = "new", .created = 2, .wanted = 5, .max_when_sized = 13}};
  // kubernetes.io's own example: 10 to 15 replicas with surge 3 adds 5 pods, 3 to the larger set.
  const auto grown = scale_in_proportion(15, posts, sets);
  CHECK(grown == std::vector<resize>{{"old", 11}, {"new", 7}});

  std::mt19937 random{985};
  for (int round = 0; round < 1'000; ++round) {
    std::vector<set_size> any;
    std::int32_t total = 0;
    for (int i = 0; i < 1 + static_cast<int>(random() % 4); ++i) {
      any.push_back({.key = std::to_string(i),
                     .created = static_cast<std::int64_t>(random() % 5),
                     .wanted = static_cast<std::int32_t>(1 + random() % 30)});
      total += any.back().wanted;
    }
    for (auto& set : any)
      set.max_when_sized = total;
    const auto replicas = static_cast<std::int32_t>(random() % 60);
    const fenceposts some{static_cast<std::int32_t>(random() % 10), 1};
    std::int32_t sum = 0;
    for (const auto& change : scale_in_proportion(replicas, some, any)) {
      REQUIRE(change.to >= 0);
      sum += change.to;
    }
    REQUIRE(sum == (replicas > 0 ? replicas + some.surge : 0));
  }
}

TEST_CASE("a template's hash does not depend on its own label nor on map order") {
  api::core::v1::PodTemplateSpec a, b;
  for (const char* name : {"x", "y", "z", "app"})
    (*a.mutable_metadata()->mutable_labels())[name] = name;
  for (const char* name : {"app", "z", "y", "x"})
    (*b.mutable_metadata()->mutable_labels())[name] = name;
  const auto hash = template_hash(a, 0);
  (*b.mutable_metadata()->mutable_labels())[hash_label] = hash;
  CHECK(same_template(a, b));
  CHECK(template_hash(b, 0) == hash);
  CHECK(template_hash(a, 1) != hash);
  (*b.mutable_metadata()->mutable_labels())["x"] = "other";
  CHECK_FALSE(same_template(a, b));
}

TEST_CASE("a template that lacks a default is the same as one that has it") {
  api::core::v1::PodTemplateSpec stored;
  stored.mutable_spec()->add_containers()->set_image("nginx");
  auto completed = stored;
  api::set_schema_defaults(completed);
  completed.mutable_spec()->set_enable_service_links(true);
  CHECK(same_template(stored, completed));
  completed.mutable_spec()->set_enable_service_links(false);
  CHECK_FALSE(same_template(stored, completed));
}

TEST_CASE("sizes near the largest number neither overflow nor stop a rollout") {
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  const auto posts = resolve_percent(25, 25, most);
  CHECK(posts.surge == 536'870'912);
  CHECK(resolve_percent(most, 0, most).surge == most);
  CHECK(new_set_size(most, posts, {}, {}) == most);
  const set_size old{.key = "old", .wanted = most, .pods = most, .available = most};
  CHECK(new_set_size(most, posts, {}, {old}) == posts.surge);
  const auto shrunk = shrink_old_sets(most, posts, {.key = "new", .wanted = most}, {old});
  REQUIRE(shrunk.size() == 1);
  CHECK(shrunk[0].to < most);
  CHECK(shrunk[0].to > 0);
  const set_size half{.key = "half", .wanted = 1'000'000'000};
  for (const auto& each : scale_in_proportion(most, posts, {half, old}))
    CHECK(each.to >= 0);
}

}  // namespace troupe::actors::deployments
