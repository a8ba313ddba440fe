// StatefulSets in a simulated cluster: at each revision the order of their pods is checked, while
// actors crash, messages are late and transactions conflict.
#include <catch2/catch.hpp>

#include "actors/controllers/kit/claims.hpp"
#include "actors/controllers/kit/revisions.hpp"
#include "actors/controllers/stateful_sets/identity.hpp"
#include "actors/controllers/workload_stage.hpp"
#include "actors/core/labels.hpp"
#include "actors/core/pod_health.hpp"
#include "api/schema/core_event.pb.h"
#include "support/seeds.hpp"

namespace troupe::test {

using actors::is_ready;
using actors::label_of;
using actors::stateful_sets::ordinal_of;
using api::apps::v1::ControllerRevision;
using api::apps::v1::StatefulSet;
using api::core::v1::Event;
using api::core::v1::PersistentVolumeClaim;
using api::core::v1::Pod;
using std::chrono::seconds;

namespace {

StatefulSet stateful_set(int replicas) {
  StatefulSet set;
  set.mutable_metadata()->set_name("web");
  set.mutable_metadata()->set_namespace_("default");
  auto& spec = *set.mutable_spec();
  spec.set_replicas(replicas);
  spec.set_service_name("web");
  (*spec.mutable_selector()->mutable_match_labels())["app"] = "web";
  (*spec.mutable_template_()->mutable_metadata()->mutable_labels())["app"] = "web";
  *spec.mutable_template_()->mutable_spec() = pod_named("x").spec();
  return set;
}

void add_claim(StatefulSet& set) {
  auto& claim = *set.mutable_spec()->add_volume_claim_templates();
  claim.mutable_metadata()->set_name("data");
  claim.mutable_spec()->add_access_modes("ReadWriteOnce");
  (*claim.mutable_spec()->mutable_resources()->mutable_requests())["storage"].set_string("1Gi");
}

class stage : public workload_stage<StatefulSet> {
 public:
  explicit stage(std::uint64_t seed, const StatefulSet& wanted, cluster_options options = {})
      : workload_stage{seed, {"n1"}, wanted, options} {}

  std::string image_of(const std::string& pod) const {
    const auto found = c.find<Pod>("default", pod);
    return found ? found->as<Pod>().spec().containers(0).image() : "";
  }
  std::vector<std::string> pods() const {
    std::vector<std::string> names;
    for (const auto& each : c.list<Pod>())
      names.push_back(each->meta().name());
    return names;
  }

  bool complete() const {
    const auto set = now();
    const auto& status = set.status();
    const auto replicas = set.spec().replicas();
    return status.observed_generation() == set.metadata().generation() &&
           status.replicas() == replicas && status.available_replicas() == replicas &&
           status.updated_replicas() ==
               replicas - set.spec().update_strategy().rolling_update().partition();
  }

  void round() {
    pass_second(
        [this](const Pod& pod) {
          return pod.spec().containers(0).image() == broken || random_() % 3 == 0;
        },
        [this] { look(); });
  }
  bool roll_out(int rounds = 200) {
    for (round(); rounds-- > 0 && !complete();)
      round();
    return complete();
  }

  // A new pod of an ordered set requires all lower ones to be ready, unless the set is being
  // resized.
  void look() {
    const auto state = c.store().read();
    if (!in_order || !is_new(state)) return;
    std::map<std::int32_t, bool> ready;
    state.scan(api::kind_of<Pod>().prefix("default"), {},
               [&](std::string_view, const api::object_ptr& pod) {
                 const auto ordinal = ordinal_of("web", pod->meta().name());
                 if (ordinal) ready[*ordinal] = is_ready(pod->as<Pod>());
                 return true;
               });
    for (const auto& [ordinal, is] : ready) {
      const bool fresh = !known_.contains(ordinal);
      for (std::int32_t below = 0; fresh && below < ordinal; ++below)
        if (!ready.contains(below) || !ready[below])
          FAIL("revision " << seen_ << ": pod " << ordinal << " was made before " << below);
    }
    known_ = std::move(ready);
  }

  std::string broken = "broken";
  bool in_order = true;

 private:
  std::map<std::int32_t, bool> known_;
};

cluster_options with_conflicts() {
  cluster_options options;
  options.plane.conflict_chance = 0.05;
  options.plane.local_path_class = true;
  return options;
}

}  // namespace

TEST_CASE("a stateful set makes its pods in order, each with its name and revision",
          "[statefulsets]") {
  stage s{1, stateful_set(3)};
  REQUIRE(s.roll_out());
  CHECK(s.pods() == std::vector<std::string>{"web-0", "web-1", "web-2"});
  const auto pod = s.c.find<Pod>("default", "web-1");
  CHECK(label_of(*pod, "statefulset.kubernetes.io/pod-name") == "web-1");
  CHECK(label_of(*pod, "apps.kubernetes.io/pod-index") == "1");
  CHECK(label_of(*pod, "controller-revision-hash") == s.now().status().update_revision());
  CHECK(pod->as<Pod>().spec().hostname() == "web-1");
  CHECK(pod->as<Pod>().spec().subdomain() == "web");
  CHECK(s.c.count<ControllerRevision>() == 1);
  std::set<std::string> told;
  for (const auto& each : s.c.list<Event>())
    told.insert(each->as<Event>().message());
  CHECK(told.contains("create Pod web-2 in StatefulSet web successful"));
}

TEST_CASE("an update of a stateful set goes from the highest pod to the partition and back",
          "[statefulsets]") {
  stage s{2, stateful_set(4)};
  REQUIRE(s.roll_out());
  const auto first = s.now().status().update_revision();
  s.edit([](StatefulSet& set) {
    set.mutable_spec()->mutable_update_strategy()->mutable_rolling_update()->set_partition(2);
  });
  s.in_order = false;
  s.image("two");
  REQUIRE(s.roll_out());
  CHECK(s.image_of("web-1") == "example:1");
  CHECK(s.image_of("web-2") == "two");
  CHECK(s.now().status().current_revision() == first);
  // A pod below the partition is recreated unchanged.
  s.c.remove<Pod>("default", "web-0", 0);
  REQUIRE(s.roll_out());
  CHECK(s.image_of("web-0") == "example:1");
  s.edit([](StatefulSet& set) {
    set.mutable_spec()->mutable_update_strategy()->mutable_rolling_update()->set_partition(0);
  });
  REQUIRE(s.roll_out());
  s.round();
  CHECK(s.image_of("web-0") == "two");
  CHECK(s.now().status().current_revision() == s.now().status().update_revision());
  // The first template again is the first revision again, with the highest number.
  s.image("example:1");
  REQUIRE(s.roll_out());
  CHECK(s.c.count<ControllerRevision>() == 2);
  CHECK(s.now().status().update_revision() == first);
  CHECK(s.c.get<ControllerRevision>("default", first).revision() == 3);
}

TEST_CASE("a stateful set keeps as many old revisions as its history limit", "[statefulsets]") {
  auto wanted = stateful_set(1);
  wanted.mutable_spec()->set_revision_history_limit(2);
  stage s{3, wanted};
  REQUIRE(s.roll_out());
  for (const char* image : {"a", "b", "c", "d"}) {
    s.image(image);
    REQUIRE(s.roll_out());
  }
  s.round();
  s.round();
  CHECK(s.c.count<ControllerRevision>() == 3);
}

TEST_CASE("claims of a stateful set are created, mounted, and kept or deleted by its policy",
          "[statefulsets]") {
  auto wanted = stateful_set(2);
  add_claim(wanted);
  const bool goes = GENERATE(false, true);
  if (goes) {
    auto& policy = *wanted.mutable_spec()->mutable_persistent_volume_claim_retention_policy();
    policy.set_when_scaled("Delete");
    policy.set_when_deleted("Delete");
  }
  cluster_options options;
  options.plane.local_path_class = true;
  stage s{4, wanted, options};
  REQUIRE(s.roll_out());
  CHECK(s.c.count<PersistentVolumeClaim>() == 2);
  const auto pod = s.c.get<Pod>("default", "web-1");
  REQUIRE(pod.spec().volumes_size() > 0);
  CHECK(pod.spec().volumes(0).volume_source().persistent_volume_claim().claim_name() ==
        "data-web-1");
  s.scale(1);
  REQUIRE(s.roll_out());
  for (int i = 0; i < 5; ++i)
    s.round();
  CHECK(s.c.count<PersistentVolumeClaim>() == (goes ? 1u : 2u));
  s.c.remove<StatefulSet>("default", "web");
  for (int i = 0; i < 5; ++i)
    s.round();
  CHECK(s.c.count<Pod>() == 0);
  CHECK(s.c.count<PersistentVolumeClaim>() == (goes ? 0u : 2u));
}

TEST_CASE("a failed pod of a stateful set is made again", "[statefulsets]") {
  stage s{5, stateful_set(2)};
  REQUIRE(s.roll_out());
  s.in_order = false;
  const auto uid = s.c.find<Pod>("default", "web-0")->meta().uid();
  s.c.change<Pod>("default", "web-0", [](Pod& pod) { pod.mutable_status()->set_phase("Failed"); });
  s.c.settle();
  REQUIRE(s.roll_out());
  CHECK(s.c.find<Pod>("default", "web-0")->meta().uid() != uid);
}

TEST_CASE("despite crashes and conflicts a stateful set keeps its order and completes",
          "[statefulsets]") {
  for_each_seed(30, [](std::uint64_t seed) {
    auto wanted = stateful_set(4);
    const bool ordered = seed % 3 != 0;
    if (!ordered) wanted.mutable_spec()->set_pod_management_policy("Parallel");
    if (seed % 2 == 0) add_claim(wanted);
    stage s{seed, wanted, with_conflicts()};
    s.in_order = ordered;
    runtime::fault_plan faults;
    faults.crash = 0.003;
    faults.delay = 0.1;
    s.c.simulation().faults(faults);
    for (int i = 0; i < 10; ++i)
      s.round();
    s.in_order = false;
    s.image("two");
    for (int i = 0; i < 10; ++i)
      s.round();
    s.scale(seed % 2 == 0 ? 2 : 5);
    for (int i = 0; i < 10; ++i)
      s.round();
    s.c.simulation().faults({});
    CHECK(s.roll_out(400));
    for (const auto& pod : s.pods())
      CHECK(s.image_of(pod) == "two");
  });
}

TEST_CASE("a stateful set reports pods that are refused at commit", "[statefulsets]") {
  cluster_options options;
  options.plane.capacity.pods = 1;
  stage s{31, stateful_set(3), options};
  for (int i = 0; i < 10; ++i)
    s.round();
  CHECK(s.pods() == std::vector<std::string>{"web-0"});
  std::size_t told = 0;
  for (const auto& each : s.c.list<Event>())
    told += each->as<Event>().reason() == "FailedCreate" &&
            each->as<Event>().message().starts_with(
                "create Pod web-1 in StatefulSet web failed error: ");
  CHECK(told > 0);
}

TEST_CASE("a stateful set that could not adopt its revision yet counts no collision",
          "[statefulsets]") {
  for_each_seed(20, [](std::uint64_t seed) {
    cluster_options options;
    options.plane.conflict_chance = 0.3;
    cluster c{seed, options};
    const auto adopted = [&] {
      const auto set = c.find<StatefulSet>("default", "web");
      const auto revisions = c.list<ControllerRevision>("default");
      return set && revisions.size() == 1 &&
             actors::controller_uid(*revisions.front()) == set->meta().uid() &&
             set->as<StatefulSet>().status().replicas() == 1;
    };
    c.create(stateful_set(1));
    REQUIRE(c.run_until(adopted, std::chrono::minutes{5}));
    c.remove<StatefulSet>("default", "web", -1, "Orphan");
    REQUIRE(c.run_until([&] { return !c.find<StatefulSet>("default", "web"); },
                        std::chrono::minutes{5}));
    c.create(stateful_set(1));
    REQUIRE(c.run_until(adopted, std::chrono::minutes{5}));
    CHECK(c.get<StatefulSet>("default", "web").status().collision_count() == 0);
  });
}

}  // namespace troupe::test
