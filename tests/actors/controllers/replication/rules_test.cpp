// The pure rules of replication: claims, plan, slow start, expectations, ranking, tally, status.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "actors/controllers/kit/claims.hpp"
#include "actors/controllers/kit/controller_type.hpp"
#include "actors/controllers/kit/pod_template.hpp"
#include "actors/controllers/replication/defaults.hpp"
#include "actors/controllers/replication/expectations.hpp"
#include "actors/controllers/replication/plan.hpp"
#include "actors/controllers/replication/ranking.hpp"
#include "actors/controllers/replication/replica_tally.hpp"
#include "builders.hpp"

namespace troupe::actors::replication {

using namespace std::chrono_literals;

namespace {

claim judge_pod(const replica_owner& owner, const api::object& pod) {
  const auto& object = *owner.object();
  return classify(object.meta(), selector_of<api::core::v1::ReplicationController>(object), pod);
}

}  // namespace

TEST_CASE("a pod is kept, adopted, released or ignored by owner and labels") {
  const auto owner = make_owner();
  const labels other = {{"app", "db"}};

  CHECK(judge_pod(owner, *make_pod({.controller = "web-uid"})) == claim::keep);
  CHECK(judge_pod(owner, *make_pod({.with = other, .controller = "web-uid"})) == claim::release);
  CHECK(judge_pod(owner, *make_pod({.controller = "another"})) == claim::ignore);
  CHECK(judge_pod(owner, *make_pod()) == claim::adopt);
  CHECK(judge_pod(owner, *make_pod({.with = other})) == claim::ignore);
  CHECK(judge_pod(owner, *make_pod({.deleting = true})) == claim::ignore);
}

TEST_CASE("an owner that is being deleted adopts and releases nothing") {
  const auto owner = make_owner({.deleting = true});
  CHECK(judge_pod(owner, *make_pod()) == claim::ignore);
  CHECK(judge_pod(owner, *make_pod({.with = {}, .controller = "web-uid"})) == claim::ignore);
  CHECK(judge_pod(owner, *make_pod({.controller = "web-uid"})) == claim::keep);
}

TEST_CASE("a plan closes the gap, a burst at a time") {
  CHECK(make_plan(3, 1, 500).create == 2);
  CHECK(make_plan(3, 3, 500).create == 0);
  CHECK(make_plan(3, 5, 500).remove == 2);
  CHECK(make_plan(5'000, 0, 500).create == 500);
  CHECK(make_plan(0, 5'000, 500).remove == 500);
  CHECK(make_plan(-1, 2, 500).remove == 2);
}

TEST_CASE("creation stays ahead of the scheduler by whole bursts, up to a limit") {
  CHECK(limit_waiting(500, 0, 5'000) == 500);
  CHECK(limit_waiting(500, 4'500, 5'000) == 500);
  CHECK(limit_waiting(500, 4'501, 5'000) == 0);
  CHECK(limit_waiting(3, 4'997, 5'000) == 3);
  CHECK(limit_waiting(3, 6'000, 5'000) == 0);
}

TEST_CASE("creations go out in batches that double until one fails") {
  slow_start all{10};
  CHECK(all.next() == 1);
  CHECK(all.next() == 2);
  CHECK(all.next() == 4);
  CHECK(all.next() == 3);
  CHECK(all.next() == 0);

  slow_start stopped{10};
  stopped.next();
  stopped.next();
  stopped.fail();
  CHECK(stopped.next() == 0);
}

TEST_CASE("expectations hold a controller back until they are seen or expire") {
  const runtime::time_point start{};
  expectations waiting;
  CHECK(waiting.satisfied(start));

  waiting.expect_creation("a", start);
  waiting.expect_creation("b", start);
  waiting.creation_observed("a");
  waiting.creation_observed("a");
  waiting.creation_observed("another");
  CHECK_FALSE(waiting.satisfied(start));
  waiting.creation_observed("b");
  CHECK(waiting.satisfied(start));

  waiting.expect_deletion("a", start);
  waiting.deletion_observed("b");
  CHECK_FALSE(waiting.satisfied(start));
  waiting.deletion_observed("a");
  waiting.deletion_observed("a");
  CHECK(waiting.satisfied(start));

  waiting.expect_creation("c", start);
  CHECK_FALSE(waiting.satisfied(start + defaults::expectation_ttl - 1ns));
  CHECK(waiting.satisfied(start + defaults::expectation_ttl));
}

namespace {

// The name of the pod that is deleted first of two.
std::string first_to_go(pod_spec a, pod_spec b, std::int32_t near_a = 0, std::int32_t near_b = 0) {
  a.name = "a", b.name = "b";
  a.uid = "uid-a", b.uid = "uid-b";
  const auto left = read_pod(make_pod(a)), right = read_pod(make_pod(b));
  const auto victims = choose_victims({&left, &right}, {near_a, near_b}, 1, 10'000);
  return victims.front()->pod->meta().name();
}

}  // namespace

TEST_CASE("scaling down deletes the pods with the lowest rank first") {
  // One pair for each rule; the second pod is deleted first, although every later rule spares it.
  CHECK(first_to_go({}, {.node = "", .deletion_cost = "100"}) == "b");
  CHECK(first_to_go({.phase = "Unknown"}, {.phase = "Pending", .deletion_cost = "9"}) == "b");
  CHECK(first_to_go({.phase = "Running"}, {.phase = "Unknown", .deletion_cost = "9"}) == "b");
  CHECK(first_to_go({.ready_since = 5}, {.deletion_cost = "9"}) == "b");
  CHECK(first_to_go({.deletion_cost = "1"}, {.deletion_cost = "-1"}, 5, 0) == "b");
  CHECK(first_to_go({.restarts = 9}, {}, 1, 3) == "b");
  // Of several containers the highest number of restarts counts.
  CHECK(first_to_go({.restarts = 4, .other_restarts = 4}, {.restarts = 5}) == "b");
  CHECK(first_to_go({.ready_since = 10, .restarts = 9}, {.ready_since = 9'990}) == "b");
  CHECK(first_to_go({.created = 9'999}, {.created = 1, .restarts = 2}) == "b");
  CHECK(first_to_go({.created = 10}, {.created = 9'990}) == "b");
  CHECK(first_to_go({}, {}) == "a");
}

TEST_CASE("a deletion cost that is no number counts as nothing") {
  CHECK(read_pod(make_pod({.deletion_cost = "12x"})).deletion_cost == 0);
  CHECK(read_pod(make_pod({.deletion_cost = "-7"})).deletion_cost == -7);
}

TEST_CASE("ranking is a strict weak order on any pods") {
  std::mt19937 random{20140721};
  const auto pick = [&](auto... values) {
    const std::vector<std::common_type_t<decltype(values)...>> all{values...};
    return all[random() % all.size()];
  };
  std::vector<pod_record> pods;
  std::vector<std::int32_t> near;
  for (int i = 0; i < 60; ++i) {
    pods.push_back(read_pod(make_pod({.uid = "u" + std::to_string(i),
                                      .node = std::string{pick("", "node-1")},
                                      .phase = std::string{pick("Pending", "Running", "Unknown")},
                                      .created = pick(0, 9'000, 9'900, 9'950),
                                      .ready_since = pick(0, 9'000, 9'901, 9'951),
                                      .restarts = pick(0, 3),
                                      .deletion_cost = std::string{pick("", "-5", "5")}})));
    near.push_back(pick(0, 2));
  }
  std::vector<ranking_key> keys;
  for (std::size_t i = 0; i < pods.size(); ++i)
    keys.push_back(rank(pods[i], near[i], 10'000));
  for (const auto& a : keys) {
    CHECK_FALSE(a < a);
    for (const auto& b : keys) {
      if (&a != &b) CHECK((a < b) != (b < a));
      for (const auto& c : keys)
        if (a < b && b < c && !(a < c)) FAIL("not transitive");
    }
  }
}

TEST_CASE("ranking ten thousand pods takes milliseconds", "[.bench]") {
  std::vector<pod_record> pods;
  std::vector<const pod_record*> pointers;
  for (int i = 0; i < 10'000; ++i)
    pods.push_back(read_pod(make_pod({.uid = "u" + std::to_string(i), .created = i})));
  for (const auto& pod : pods)
    pointers.push_back(&pod);
  const auto start = std::chrono::steady_clock::now();
  const auto victims =
      choose_victims(pointers, std::vector<std::int32_t>(pods.size()), 500, 100'000);
  const auto took = std::chrono::steady_clock::now() - start;
  CHECK(victims.size() == 500);
  WARN("ranked 10,000 pods in "
       << std::chrono::duration_cast<std::chrono::microseconds>(took).count() << " us");
  CHECK(took < 10ms);
}

TEST_CASE("a count that is updated incrementally equals a new count") {
  std::mt19937 random{618};
  const auto owner =
      make_owner({.template_labels = {{"app", "web"}, {"tier", "front"}}, .min_ready_seconds = 10});
  replica_tally updated;
  updated.owner(owner);
  std::map<std::string, api::object_ptr> model;
  for (int i = 0; i < 3'000; ++i) {
    const auto key = "pod-" + std::to_string(random() % 20);
    if (random() % 4 == 0) {
      model.erase(key);
      updated.remove(key);
      continue;
    }
    pod_spec pod{.name = key, .phase = random() % 5 == 0 ? "Failed" : "Running"};
    if (random() % 2) pod.with["tier"] = "front";
    if (random() % 3) pod.ready_since = 980 + static_cast<std::int64_t>(random() % 20);
    pod.deleting = random() % 6 == 0;
    model[key] = make_pod(pod);
    updated.put(key, read_pod(model[key]));

    replica_tally fresh;
    fresh.owner(owner);
    for (const auto& [name, object] : model)
      fresh.put(name, read_pod(object));
    const auto a = updated.counts(1'000), b = fresh.counts(1'000);
    REQUIRE(std::tie(a.active, a.fully_labeled, a.ready, a.available) ==
            std::tie(b.active, b.fully_labeled, b.ready, b.available));
    REQUIRE(updated.active().size() == static_cast<std::size_t>(a.active));
    REQUIRE(updated.next_available_in(1'000) == fresh.next_available_in(1'000));
  }
}

TEST_CASE("pods become available when they have been ready for minReadySeconds") {
  replica_tally tally;
  tally.owner(make_owner({.min_ready_seconds = 30}));
  tally.put("a", read_pod(make_pod({.ready_since = 100})));
  tally.put("b", read_pod(make_pod({.ready_since = 120})));
  CHECK(tally.counts(125).available == 0);
  CHECK(tally.next_available_in(125) == 5);
  CHECK(tally.counts(130).available == 1);
  CHECK(tally.next_available_in(130) == 20);
  CHECK(tally.counts(150).available == 2);
  CHECK_FALSE(tally.next_available_in(150));
}

TEST_CASE("a failure sets ReplicaFailure once and a clean sync removes it") {
  const replica_failure first{"FailedCreate", "quota"}, second{"FailedDelete", "other"};
  auto status = calculate_status({}, {.active = 1}, 4, first, 10);
  CHECK(status.replicas == 1);
  CHECK(status.observed_generation == 4);
  REQUIRE(status.conditions.size() == 1);
  CHECK(status.conditions[0].reason == "FailedCreate");

  const auto again = calculate_status(status, {.active = 1}, 4, second, 20);
  CHECK(again == status);
  const replica_failure waiting{std::string{waiting_for_nodes}, "5000 pods"};
  const auto waits = calculate_status(again, {.active = 1}, 4, waiting, 20);
  CHECK(waits.conditions[0].reason == "WaitingForNodes");
  CHECK(calculate_status(waits, {.active = 1}, 4, second, 20).conditions[0].reason ==
        "FailedDelete");
  CHECK(calculate_status(again, {.active = 1}, 4, {}, 30).conditions.empty());
}

TEST_CASE("a pod made from a template belongs to its controller") {
  const auto owner = make_owner();
  const auto pod = pod_from_template(owner.object()->meta(), owner.pod_template());
  add_controller_reference(*owner.object(), *pod->mutable_metadata());
  CHECK(pod->metadata().generate_name() == "web-");
  CHECK(pod->metadata().labels().at("app") == "web");
  REQUIRE(pod->metadata().owner_references_size() == 1);
  const auto& reference = pod->metadata().owner_references(0);
  CHECK(reference.kind() == "ReplicationController");
  CHECK(reference.api_version() == "v1");
  CHECK(reference.controller());
  CHECK(reference.block_owner_deletion());

  remove_controller_reference(*owner.object(), *pod->mutable_metadata());
  CHECK(pod->metadata().owner_references_size() == 0);
}

}  // namespace troupe::actors::replication
