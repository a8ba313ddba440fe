// The order in which a StatefulSet creates, deletes and replaces its pods.
#include "actors/controllers/stateful_sets/update_plan.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "actors/controllers/stateful_sets/identity.hpp"
#include "support/seeds.hpp"

namespace troupe::actors::stateful_sets {

namespace {

set_pod healthy(const std::string& revision = "new") {
  return {.revision = revision, .ready = true, .available = true};
}

set_rules rules_for(std::int32_t replicas) {
  return {.replicas = replicas, .current = "old", .update = "new"};
}

set_pods healthy_pods(std::int32_t count, const std::string& revision = "new") {
  set_pods pods;
  for (std::int32_t i = 0; i < count; ++i)
    pods[i] = healthy(revision);
  return pods;
}

std::vector<set_step> without_keeps(std::vector<set_step> steps) {
  std::erase_if(steps, [](const set_step& step) { return step.action == step_kind::keep; });
  return steps;
}

using steps = std::vector<set_step>;

}  // namespace

TEST_CASE("names of a stateful set's pods are read back as they were made", "[statefulsets]") {
  CHECK(ordinal_of("web", pod_name("web", 12)) == 12);
  CHECK(ordinal_of("web-a", "web-a-0") == 0);
  for (const auto* other :
       {"web", "web-", "web-01", "web--1", "web-1a", "webs-1", "web-9999999999"})
    CHECK_FALSE(ordinal_of("web", other));
  CHECK(claim_name("web", "data", 3) == "data-web-3");
}

TEST_CASE("an ordered set makes one pod at a time and waits until it is available",
          "[statefulsets]") {
  const auto rules = rules_for(3);
  CHECK(plan_set(rules, {}) == steps{{step_kind::create, 0, "new"}});
  auto pods = healthy_pods(1);
  CHECK(without_keeps(plan_set(rules, pods)) == steps{{step_kind::create, 1, "new"}});
  pods[0].available = false;
  CHECK(without_keeps(plan_set(rules, pods)).empty());
  pods[0] = {.revision = "new"};
  CHECK(without_keeps(plan_set(rules, pods)).empty());
}

TEST_CASE("a parallel set makes all pods at once, as many as one sync may", "[statefulsets]") {
  auto rules = rules_for(2'000'000'000);
  rules.ordered = false;
  CHECK(plan_set(rules, {}).size() == rules.burst);
  rules.replicas = 3;
  CHECK(plan_set(rules, {}).size() == 3);
}

TEST_CASE("a set that is scaled down loses its highest pod first", "[statefulsets]") {
  auto rules = rules_for(1);
  auto pods = healthy_pods(3);
  CHECK(without_keeps(plan_set(rules, pods)) == steps{{step_kind::condemn, 2}});
  SECTION("and waits for one that is not healthy, unless it is the first such") {
    pods[1].ready = false;
    pods[2].ready = false;
    CHECK(without_keeps(plan_set(rules, pods)).empty());
    pods[1].ready = true;
    CHECK(without_keeps(plan_set(rules, pods)) == steps{{step_kind::condemn, 2}});
  }
  SECTION("and waits until one has gone") {
    pods[2].terminating = true;
    CHECK(without_keeps(plan_set(rules, pods)).empty());
  }
  SECTION("and all at once when it is parallel") {
    rules.ordered = false;
    CHECK(without_keeps(plan_set(rules, pods)) ==
          steps{{step_kind::condemn, 2}, {step_kind::condemn, 1}});
  }
  SECTION("and those below its first ordinal last") {
    rules.start = 2;
    CHECK(without_keeps(plan_set(rules, pods)) == steps{{step_kind::condemn, 1}});
  }
}

TEST_CASE("an update replaces pods from the highest ordinal down to the partition",
          "[statefulsets]") {
  auto rules = rules_for(4);
  rules.partition = 1;
  auto pods = healthy_pods(4, "old");
  CHECK(without_keeps(plan_set(rules, pods)) == steps{{step_kind::replace, 3}});
  pods[3] = healthy();
  CHECK(without_keeps(plan_set(rules, pods)) == steps{{step_kind::replace, 2}});
  pods[2] = pods[1] = healthy();
  CHECK(without_keeps(plan_set(rules, pods)).empty());
  SECTION("and makes those below it of the old revision") {
    pods.erase(0);
    CHECK(without_keeps(plan_set(rules, pods)) == steps{{step_kind::create, 0, "old"}});
  }
  SECTION("and stops at a pod that does not come up, whatever the template says later") {
    pods[3] = {.revision = "bad"};
    rules.update = "good";
    CHECK(without_keeps(plan_set(rules, pods)).empty());
  }
  SECTION("and leaves all to the user with OnDelete") {
    pods = healthy_pods(4, "old");
    rules.on_delete = true;
    CHECK(without_keeps(plan_set(rules, pods)).empty());
    pods.erase(2);
    CHECK(without_keeps(plan_set(rules, pods)) == steps{{step_kind::create, 2, "new"}});
  }
  SECTION("and takes as many at a time as may be unavailable") {
    pods = healthy_pods(4, "old");
    rules.max_unavailable = 2;
    CHECK(without_keeps(plan_set(rules, pods)) ==
          steps{{step_kind::replace, 3}, {step_kind::replace, 2}});
  }
}

TEST_CASE("a pod that has ended is made again", "[statefulsets]") {
  const auto rules = rules_for(2);
  auto pods = healthy_pods(2);
  pods[0].ready = false;
  pods[0].failed = true;
  CHECK(without_keeps(plan_set(rules, pods)) == steps{{step_kind::recreate, 0}});
  pods[0].terminating = true;
  CHECK(without_keeps(plan_set(rules, pods)).empty());
}

TEST_CASE("an ordered set takes one step that keeps the order, for any state of its pods",
          "[statefulsets]") {
  test::for_each_seed(2'000, [](std::uint64_t seed) {
    std::mt19937_64 random{seed};
    auto rules = rules_for(static_cast<std::int32_t>(random() % 6));
    rules.start = static_cast<std::int32_t>(random() % 3);
    rules.partition = static_cast<std::int32_t>(random() % 4);
    set_pods pods;
    for (std::int32_t i = 0; i < 9; ++i) {
      if (random() % 3 == 0) continue;
      auto pod = healthy(random() % 2 == 0 ? "old" : "new");
      pod.ready = random() % 4 != 0;
      pod.available = pod.ready && random() % 4 != 0;
      pod.terminating = random() % 6 == 0;
      pod.failed = !pod.ready && random() % 2 == 0;
      pods[i] = pod;
    }
    const auto taken = without_keeps(plan_set(rules, pods));
    CHECK(taken.size() <= 1);
    for (const auto& step : taken) {
      // A step above a desired ordinal happens only when all lower pods are healthy.
      for (std::int32_t i = rules.start; i < rules.start + rules.replicas; ++i) {
        if (step.action != step_kind::condemn && step.action != step_kind::replace &&
            i >= step.ordinal)
          break;
        INFO("step " << int(step.action) << " at " << step.ordinal << ", pod " << i);
        REQUIRE(pods.contains(i));
        CHECK(pods.at(i).healthy());
      }
      const bool creates = step.action == step_kind::create;
      CHECK(pods.contains(step.ordinal) == !creates);
      if (!creates) CHECK_FALSE(pods.at(step.ordinal).terminating);
      if (step.action == step_kind::replace) CHECK(step.ordinal >= rules.start + rules.partition);
    }
  });
}

}  // namespace troupe::actors::stateful_sets
