// Deployments in a simulated cluster, with kubelets that start and end pods step by step.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "actors/controllers/deployments/deployment_view.hpp"
#include "actors/controllers/replication/pod_record.hpp"
#include "actors/controllers/workload_stage.hpp"
#include "actors/core/condition.hpp"
#include "api/schema/core_event.pb.h"
#include "api/values/timestamp.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using actors::find_condition;
using actors::replication::read_pod;
using api::apps::v1::Deployment;
using api::apps::v1::ReplicaSet;
using api::core::v1::Event;
using api::core::v1::Pod;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// A cluster with one Deployment, "web". Checks the guarantees at each revision.
class stage : public workload_stage<Deployment> {
 public:
  explicit stage(std::uint64_t seed, const Deployment& wanted, cluster_options options = {})
      : workload_stage{seed, {"n1"}, wanted, options} {}

  // Size of the set that creates pods with that image; -1 if there is none.
  int size(const std::string& image) const {
    const auto set = set_of(image);
    return set ? set->as<ReplicaSet>().spec().replicas() : -1;
  }
  api::object_ptr set_of(const std::string& image) const {
    for (const auto& set : c.list<ReplicaSet>())
      if (set->as<ReplicaSet>().spec().template_().spec().containers(0).image() == image)
        return set;
    return nullptr;
  }

  // Guarantees at every moment, apart from effects that the Deployment did not cause.
  struct promises {
    int most_asked = 1'000'000;  // desired by all sets together
    int most_pods = 1'000'000;
    int least_available = 0;
  };

  bool complete() const {
    const auto d = now();
    const auto replicas = d.spec().replicas();
    const auto& status = d.status();
    return status.observed_generation() == d.metadata().generation() &&
           status.updated_replicas() == replicas && status.replicas() == replicas &&
           status.available_replicas() == replicas;
  }

  // One round of kubelets, random pods, and the resulting messages, step by step.
  void round(const promises& hold) {
    pass_second(
        [this](const Pod& pod) {
          return pod.spec().containers(0).image() == broken || random_() % 3 != 0;
        },
        [&] { look(hold); });
  }

  bool roll_out(const promises& hold, int rounds = 200) {
    while (rounds-- > 0 && !complete())
      round(hold);
    return complete();
  }

  void look(const promises& hold) {
    const auto state = c.store().read();
    if (!is_new(state)) return;
    int pods = 0, available = 0;
    state.scan(api::kind_of<Pod>().prefix(), {}, [&](std::string_view, const api::object_ptr& p) {
      const auto pod = read_pod(p);
      pods += pod.active() ? 1 : 0;
      available += pod.active() && pod.ready ? 1 : 0;
      return true;
    });
    int asked = 0;
    state.scan(api::kind_of<ReplicaSet>().prefix(), {},
               [&](std::string_view, const api::object_ptr& set) {
                 asked += set->as<ReplicaSet>().spec().replicas();
                 return true;
               });
    if (asked > hold.most_asked) FAIL("revision " << seen_ << ": " << asked << " pods asked for");
    if (pods > hold.most_pods) FAIL("revision " << seen_ << ": " << pods << " pods");
    if (available < hold.least_available)
      FAIL("revision " << seen_ << ": " << available << " available");
  }

  std::string progress() const {
    const auto d = now();
    const auto* found = find_condition(d.status().conditions(), "Progressing");
    return found == nullptr ? "" : found->status() + " " + found->reason();
  }
  std::string revision_of(const std::string& image) const {
    const auto set = set_of(image);
    const auto& all = set->meta().annotations();
    const auto found = all.find(actors::deployments::revision_annotation);
    return found == all.end() ? "" : found->second;
  }
  std::vector<std::string> events() const {
    std::vector<std::string> told;
    for (const auto& each : c.list<Event>())
      if (each->as<Event>().involved_object().kind() == "Deployment")
        told.push_back(each->as<Event>().message());
    return told;
  }

  std::string broken = "";  // pods of this image never become ready
};

constexpr stage::promises of_ten = {.most_asked = 13, .most_pods = 13, .least_available = 8};

}  // namespace

TEST_CASE("a rolling update respects its limits at every revision", "[deployments]") {
  for_each_seed(20, [](std::uint64_t seed) {
    stage s{seed, deployment("web", 10, "one")};
    REQUIRE(s.roll_out({.most_pods = 10}));
    CHECK(s.progress() == "True NewReplicaSetAvailable");
    s.image("two");
    REQUIRE(s.roll_out(of_ten));
    CHECK(s.size("one") == 0);
    CHECK(s.size("two") == 10);
    CHECK(s.now().metadata().annotations().at(actors::deployments::revision_annotation) == "2");
    CHECK(s.progress() == "True NewReplicaSetAvailable");
  });
}

TEST_CASE("a rollback during an update respects the limits and makes the old set the newest",
          "[deployments]") {
  for_each_seed(20, [](std::uint64_t seed) {
    stage s{seed, deployment("web", 10, "one")};
    REQUIRE(s.roll_out({}));
    s.image("two");
    while (s.size("two") < 5)
      s.round(of_ten);
    REQUIRE(s.size("one") > 0);
    s.image("one");
    REQUIRE(s.roll_out(of_ten));
    CHECK(s.size("one") == 10);
    CHECK(s.size("two") == 0);
    CHECK(s.c.count<ReplicaSet>() == 2);
    CHECK(s.revision_of("one") == "3");
    CHECK(s.revision_of("two") == "2");
    const auto set = s.set_of("one");
    CHECK(set->meta().annotations().at(actors::deployments::history_annotation) == "1");
  });
}

namespace {

void kill_and_come_right(std::uint64_t seed, bool far) {
  cluster_options options;
  options.plane.conflict_chance = 0.05;
  options.far = far;
  stage s{seed, deployment("web", 10, "one"), options};
  s.c.simulation().faults({.crash = 0.01, .delay = 0.1, .may_crash = {}});
  const stage::promises most = {.most_asked = 13};
  for (const char* image : {"one", "two", "three"}) {
    s.image(image);
    for (int i = 0; i < 12; ++i)
      s.round(most);
  }
  s.c.simulation().faults({});
  REQUIRE(s.roll_out(most, 500));
  CHECK(s.size("three") == 10);
  CHECK(s.c.count<ReplicaSet>() <= 3);
}

}  // namespace

TEST_CASE("a deployment completes although parts of the control plane are killed",
          "[deployments][seeds]") {
  for_each_seed(60, [](std::uint64_t seed) { kill_and_come_right(seed, false); });
}

TEST_CASE("a deployment converges over a remote store with other writers",
          "[deployments][seeds][far]") {
  for_each_seed(30, [](std::uint64_t seed) { kill_and_come_right(seed, true); });
}

TEST_CASE("a deployment controller that is killed at every step respects the limits",
          "[deployments]") {
  stage s{5, deployment("web", 10, "one")};
  REQUIRE(s.roll_out({}));
  s.image("two");
  for (int i = 0; i < 60 && !s.complete(); ++i) {
    s.c.crash("deployment", "default/web");
    s.round(of_ten);
  }
  REQUIRE(s.roll_out(of_ten));
  CHECK(s.size("two") == 10);
  CHECK(s.c.count<ReplicaSet>() == 2);
}

TEST_CASE("a paused deployment takes a new template but moves no pod", "[deployments]") {
  stage s{2, deployment("web", 4, "one")};
  REQUIRE(s.roll_out({}));
  s.edit([](Deployment& d) { d.mutable_spec()->set_paused(true); });
  s.image("two");
  for (int i = 0; i < 5; ++i)
    s.round({});
  CHECK(s.size("one") == 4);
  CHECK(s.size("two") == -1);
  CHECK(s.progress() == "Unknown DeploymentPaused");
  s.scale(6);  // sizes must still follow
  for (int i = 0; i < 8; ++i)
    s.round({});
  CHECK(s.size("one") == 6);
  s.edit([](Deployment& d) { d.mutable_spec()->set_paused(false); });
  s.c.settle();
  REQUIRE(s.roll_out({}));
  CHECK(s.size("two") == 6);
}

TEST_CASE("scaling in the middle of an update shares the difference in proportion",
          "[deployments]") {
  stage s{3, deployment("web", 10, "one")};
  REQUIRE(s.roll_out({}));
  s.broken = "two";  // the update stops at 8 and 5
  s.image("two");
  for (int i = 0; i < 10; ++i)
    s.round(of_ten);
  REQUIRE(s.size("one") == 8);
  REQUIRE(s.size("two") == 5);
  s.scale(15);
  s.c.settle();
  CHECK(s.size("one") == 12);  // 8 of 13 of 15 + 4
  CHECK(s.size("two") == 7);
  s.broken.clear();
  REQUIRE(s.roll_out({.most_pods = 19}));
  CHECK(s.size("two") == 15);
}

TEST_CASE("recreate ends all old pods before it makes a new one", "[deployments]") {
  auto wanted = deployment("web", 4, "one");
  wanted.mutable_spec()->mutable_strategy()->set_type("Recreate");
  stage s{4, wanted};
  REQUIRE(s.roll_out({}));
  s.image("two");
  for (int i = 0; i < 60 && !s.complete(); ++i) {
    s.round({.most_pods = 4});
    int old = 0, fresh = 0;
    for (const auto& pod : s.c.list<Pod>())
      ++(pod->as<Pod>().spec().containers(0).image() == "one" ? old : fresh);
    CHECK((old == 0 || fresh == 0));
  }
  CHECK(s.complete());
  CHECK(s.size("one") == 0);
  CHECK(s.size("two") == 4);
}

TEST_CASE("an update without progress is reported after its deadline", "[deployments]") {
  auto wanted = deployment("web", 4, "one");
  wanted.mutable_spec()->set_progress_deadline_seconds(60);
  stage s{6, wanted};
  REQUIRE(s.roll_out({}));
  s.broken = "two";
  s.image("two");
  for (int i = 0; i < 50; ++i)
    s.round({.least_available = 3});
  CHECK(s.progress() == "True ReplicaSetUpdated");
  for (int i = 0; i < 30; ++i)
    s.round({.least_available = 3});
  CHECK(s.progress() == "False ProgressDeadlineExceeded");
  s.broken.clear();
  REQUIRE(s.roll_out({}));
  CHECK(s.progress() == "True NewReplicaSetAvailable");
}

TEST_CASE("a deployment whose last progress is in the far future does not sync all the time",
          "[deployments]") {
  stage s{6, deployment("web", 4, "one")};
  s.c.settle();
  REQUIRE(s.progress() == "True ReplicaSetUpdated");
  s.edit([](Deployment& d) {
    for (auto& each : *d.mutable_status()->mutable_conditions())
      each.mutable_last_update_time()->set_seconds(api::last_second);
  });
  CHECK(until_next_sync(s.c, "deployment", "default/web") >= seconds{1});
}

TEST_CASE("a deployment without a deadline has no condition Progressing", "[deployments]") {
  stage s{41, deployment("web", 2, "one")};
  const auto progressing = [&] {
    const auto status = s.now().status();
    return find_condition(status.conditions(), "Progressing") != nullptr;
  };
  REQUIRE(s.c.run_until(progressing));
  s.edit([](Deployment& d) {
    d.mutable_spec()->set_progress_deadline_seconds(std::numeric_limits<std::int32_t>::max());
  });
  CHECK(s.c.run_until([&] { return !progressing(); }));
}

TEST_CASE("a deployment keeps as many old sets as its history limit says", "[deployments]") {
  auto wanted = deployment("web", 2, "v0");
  wanted.mutable_spec()->set_revision_history_limit(2);
  stage s{7, wanted};
  REQUIRE(s.roll_out({}));
  for (int version = 1; version <= 5; ++version) {
    s.image("v" + std::to_string(version));
    REQUIRE(s.roll_out({}));
  }
  s.round({});
  CHECK(s.c.count<ReplicaSet>() == 3);
  CHECK(s.size("v5") == 2);
  CHECK(s.size("v4") == 0);
  CHECK(s.size("v3") == 0);
  CHECK(s.size("v2") == -1);
  CHECK(s.revision_of("v5") == "6");
}

TEST_CASE("a deployment records an event for each scaling", "[deployments]") {
  stage s{8, deployment("web", 2, "one")};
  REQUIRE(s.roll_out({}));
  const auto one = s.set_of("one")->meta().name();
  CHECK(s.events() == std::vector<std::string>{"Scaled up replica set " + one + " from 0 to 2"});
  s.image("two");
  REQUIRE(s.roll_out({}));
  const auto two = s.set_of("two")->meta().name();
  auto told = s.events();
  const auto was_told = [&](const std::string& message) {
    return std::find(told.begin(), told.end(), message) != told.end();
  };
  CHECK(was_told("Scaled up replica set " + two + " from 0 to 1"));
  CHECK(was_told("Scaled down replica set " + one + " from 2 to 1"));
  CHECK(was_told("Scaled up replica set " + two + " from 1 to 2"));
  CHECK(was_told("Scaled down replica set " + one + " from 1 to 0"));
  CHECK(told.size() == 5);
}

TEST_CASE("a rollout that is complete stays so when a pod is lost later", "[deployments]") {
  stage s{9, deployment("web", 3, "one")};
  REQUIRE(s.roll_out({}));
  s.c.remove<Pod>("default", s.c.list<Pod>()[0]->meta().name(), 0);
  for (int i = 0; i < 20; ++i) {
    s.round({});
    CHECK(s.progress() == "True NewReplicaSetAvailable");
  }
  CHECK(s.complete());
}

TEST_CASE("a deployment reports why its set cannot create pods", "[deployments]") {
  auto wanted = deployment("web", 3, "one");
  wanted.mutable_spec()->mutable_template_()->mutable_spec()->set_priority_class_name("none");
  stage s{10, wanted};
  s.c.settle();
  const auto d = s.now();
  const auto* failure = find_condition(d.status().conditions(), "ReplicaFailure");
  REQUIRE(failure != nullptr);
  CHECK(failure->reason() == "FailedCreate");
  s.edit([](Deployment& changed) {
    changed.mutable_spec()->mutable_template_()->mutable_spec()->clear_priority_class_name();
  });
  REQUIRE(s.roll_out({}));
  const auto after = s.now();
  CHECK(find_condition(after.status().conditions(), "ReplicaFailure") == nullptr);
}

TEST_CASE("a deployment whose replica set cannot be made reports it and retries with back-off",
          "[deployments]") {
  // Valid for a Deployment; its set's name would be longer than allowed.
  const std::string name(250, 'w');
  auto wanted = deployment("web", 3, "v1");
  wanted.mutable_metadata()->set_name(name);
  cluster c{4};
  c.create(wanted);
  // The write of the failed status is an event, so a second attempt follows the first at once.
  constexpr milliseconds first_wait{10};
  milliseconds waited{0};
  for (milliseconds wait = first_wait; wait < seconds{300}; wait *= 2) {
    const auto taken = until_next_sync(c, "deployment", "default/" + name);
    CHECK(is_delay(taken, wait));
    waited += taken;
  }
  CHECK(c.count<ReplicaSet>() == 0);
  const auto status = c.get<Deployment>("default", name).status();
  const auto* progress = find_condition(status.conditions(), "Progressing");
  REQUIRE(progress != nullptr);
  CHECK(progress->status() + " " + progress->reason() == "False ReplicaSetCreateError");
  CHECK_THAT(progress->message(), Catch::Contains("must be no more than 253 bytes"));
  // From here on the periodic resync comes first.
  constexpr std::chrono::minutes look_period{10};
  CHECK(is_delay(until_next_sync(c, "deployment", "default/" + name), look_period - waited));

  // A successful sync resets the count.
  const auto pause = [&](bool paused) {
    c.change<Deployment>("default", name,
                         [&](Deployment& d) { d.mutable_spec()->set_paused(paused); });
  };
  pause(true);
  c.settle();
  pause(false);
  for (milliseconds wait = first_wait; wait < seconds{1}; wait *= 2)
    CHECK(is_delay(until_next_sync(c, "deployment", "default/" + name), wait));
}

TEST_CASE("a deployment that is created again adopts the orphaned sets of its predecessor",
          "[deployments]") {
  stage s{11, deployment("web", 3, "one")};
  REQUIRE(s.roll_out({}));
  const auto set = s.set_of("one")->meta().uid();
  const bool supervisor_sees_it = GENERATE(true, false);
  if (!supervisor_sees_it) s.c.crash("supervisor", "deployments");
  s.c.remove<Deployment>("default", "web", -1, "Orphan");
  s.c.settle();
  if (!s.c.find<Deployment>("default", "web")) s.c.create(deployment("web", 3, "one"));
  s.c.advance(seconds{5});
  REQUIRE(s.roll_out({}));
  CHECK(s.c.count<ReplicaSet>() == 1);
  CHECK(s.set_of("one")->meta().uid() == set);
  CHECK(s.c.count<Pod>() == 3);
}

TEST_CASE("a deployment that is changed to Recreate and resized during an update completes",
          "[deployments]") {
  stage s{12, deployment("web", 4, "one")};
  REQUIRE(s.roll_out({}));
  s.broken = "two";
  s.image("two");
  for (int i = 0; i < 10; ++i)
    s.round({});
  REQUIRE(s.size("one") > 0);
  REQUIRE(s.size("two") > 0);
  s.broken.clear();  // the kubelets do not end such pods either
  s.edit([](Deployment& d) {
    auto& spec = *d.mutable_spec();
    spec.mutable_strategy()->set_type("Recreate");
    spec.mutable_strategy()->clear_rolling_update();
    spec.set_replicas(6);
  });
  s.image("three");
  REQUIRE(s.roll_out({}));
  CHECK(s.size("three") == 6);
}

TEST_CASE("a replica set that cannot be made is not tried more often after the deadline",
          "[deployments]") {
  const std::string name(250, 'w');  // as above
  auto wanted = deployment("web", 3, "v1");
  wanted.mutable_metadata()->set_name(name);
  wanted.mutable_spec()->set_progress_deadline_seconds(5);
  cluster c{4};
  c.create(wanted);
  for (milliseconds wait{10}; wait < seconds{60}; wait *= 2)
    CHECK(is_delay(until_next_sync(c, "deployment", "default/" + name), wait));
}

}  // namespace troupe::test
