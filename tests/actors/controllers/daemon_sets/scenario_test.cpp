// DaemonSets in a simulated cluster: at each revision no node has two pods, except for a
// surge.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <set>

#include "actors/controllers/daemon_sets/daemon_pod.hpp"
#include "actors/controllers/daemon_sets/defaults.hpp"
#include "actors/controllers/kit/claims.hpp"
#include "actors/controllers/kit/revisions.hpp"
#include "actors/controllers/workload_stage.hpp"
#include "actors/core/pod_health.hpp"
#include "api/schema/core_event.pb.h"
#include "support/seeds.hpp"

namespace troupe::test {

using actors::daemon_sets::node_of;
using api::apps::v1::ControllerRevision;
using api::apps::v1::DaemonSet;
using api::core::v1::Event;
using api::core::v1::Node;
using api::core::v1::Pod;
using std::chrono::seconds;

namespace {

DaemonSet daemon_set() {
  DaemonSet set;
  set.mutable_metadata()->set_name("agent");
  set.mutable_metadata()->set_namespace_("default");
  auto& spec = *set.mutable_spec();
  (*spec.mutable_selector()->mutable_match_labels())["app"] = "agent";
  (*spec.mutable_template_()->mutable_metadata()->mutable_labels())["app"] = "agent";
  *spec.mutable_template_()->mutable_spec() = pod_named("x").spec();
  return set;
}

std::vector<std::string> names_of(int nodes) {
  std::vector<std::string> names;
  for (int i = 0; i < nodes; ++i)
    names.push_back("n" + std::to_string(i));
  return names;
}

class stage : public workload_stage<DaemonSet> {
 public:
  stage(std::uint64_t seed, int nodes, const DaemonSet& wanted, cluster_options options = {})
      : workload_stage{seed, names_of(nodes), wanted, options} {}

  std::map<std::string, int> pods_by_node() const {
    std::map<std::string, int> pods;
    for (const auto& each : c.list<Pod>())
      ++pods[node_of(each->as<Pod>())];
    return pods;
  }

  bool complete() const {
    const auto set = now();
    const auto& status = set.status();
    return status.observed_generation() == set.metadata().generation() &&
           status.desired_number_scheduled() == status.updated_number_scheduled() &&
           status.desired_number_scheduled() == status.number_available() &&
           status.number_misscheduled() == 0;
  }

  void round() {
    pass_second([this](const Pod&) { return random_() % 3 == 0; }, [this] { look(); });
  }
  bool roll_out(int rounds = 200) {
    for (round(); rounds-- > 0 && !complete();)
      round();
    return complete();
  }

  void look() {
    const auto state = c.store().read();
    if (!is_new(state)) return;
    std::map<std::string, int> pods;
    int available = 0;
    state.scan(api::kind_of<Pod>().prefix("default"), {},
               [&](std::string_view, const api::object_ptr& pod) {
                 ++pods[node_of(pod->as<Pod>())];
                 available +=
                     actors::is_ready(pod->as<Pod>()) && !pod->meta().has_deletion_timestamp() ? 1
                                                                                               : 0;
                 return true;
               });
    for (const auto& [node, count] : pods)
      if (count > most_on_node) FAIL("revision " << seen_ << ": " << count << " pods on " << node);
    if (available < least_available)
      FAIL("revision " << seen_ << ": " << available << " available");
  }

  int most_on_node = 1;
  int least_available = 0;
};

}  // namespace

TEST_CASE("a daemon set has a pod on each node, also on one that comes later", "[daemonsets]") {
  stage s{1, 3, daemon_set()};
  REQUIRE(s.roll_out());
  CHECK(s.now().status().desired_number_scheduled() == 3);
  s.add("n3");
  REQUIRE(s.roll_out());
  CHECK(s.pods_by_node() == std::map<std::string, int>{{"n0", 1}, {"n1", 1}, {"n2", 1}, {"n3", 1}});
  for (const auto& pod : s.c.list<Pod>())
    CHECK(pod->as<Pod>().spec().node_name() == node_of(pod->as<Pod>()));
}

TEST_CASE("a node whose labels no longer match loses its daemon pod", "[daemonsets]") {
  auto wanted = daemon_set();
  (*wanted.mutable_spec()->mutable_template_()->mutable_spec()->mutable_node_selector())["disk"] =
      "ssd";
  stage s{2, 3, wanted};
  REQUIRE(s.roll_out());
  CHECK(s.c.count<Pod>() == 0);
  const auto label = [&](const std::string& value) {
    s.c.change<Node>({}, "n1", [&](Node& node) {
      (*node.mutable_metadata()->mutable_labels())["disk"] = value;
    });
    REQUIRE(s.roll_out());
    s.round();
    s.round();
  };
  label("ssd");
  CHECK(s.pods_by_node() == std::map<std::string, int>{{"n1", 1}});
  label("tape");
  CHECK(s.c.count<Pod>() == 0);
}

TEST_CASE("an update of a daemon set leaves at most maxUnavailable nodes without a pod",
          "[daemonsets]") {
  const bool surges = GENERATE(false, true);
  auto wanted = daemon_set();
  if (surges) {
    auto& rolling = *wanted.mutable_spec()->mutable_update_strategy()->mutable_rolling_update();
    rolling.mutable_max_unavailable()->set_int_val(0);
    rolling.mutable_max_surge()->set_int_val(1);
  }
  stage s{GENERATE(range<std::uint64_t>(1, 41)), 4, wanted};
  REQUIRE(s.roll_out());
  s.most_on_node = surges ? 2 : 1;
  s.least_available = surges ? 4 : 3;
  s.image("two");
  REQUIRE(s.roll_out());
  s.round();
  s.round();
  for (const auto& pod : s.c.list<Pod>())
    CHECK(pod->as<Pod>().spec().containers(0).image() == "two");
  CHECK(s.c.count<Pod>() == 4);
  CHECK(s.c.count<ControllerRevision>() == 2);
}

TEST_CASE("an update is rolled out after a client has given a revision the largest number",
          "[daemonsets]") {
  stage s{5, 1, daemon_set()};
  REQUIRE(s.roll_out());
  const auto first = s.c.list<ControllerRevision>().front()->meta().name();
  s.c.change<ControllerRevision>("default", first, [](ControllerRevision& revision) {
    revision.set_revision(std::numeric_limits<std::int64_t>::max());
  });
  s.image("two");
  REQUIRE(s.roll_out());
  std::set<std::int64_t> numbers;
  for (const auto& each : s.c.list<ControllerRevision>())
    numbers.insert(actors::number_of(*each));
  CHECK(numbers == std::set<std::int64_t>{1, 2});
}

TEST_CASE("a daemon that fails is removed and made again, later each time", "[daemonsets]") {
  stage s{4, 1, daemon_set()};
  REQUIRE(s.roll_out());
  const auto fail = [&] {
    const auto name = s.c.list<Pod>().front()->meta().name();
    s.c.change<Pod>("default", name, [](Pod& pod) { pod.mutable_status()->set_phase("Failed"); });
    const auto began = s.c.now();
    REQUIRE(s.c.run_until([&] {
      return !s.c.find<Pod>("default", name) ||
             s.c.find<Pod>("default", name)->meta().has_deletion_timestamp();
    }));
    const auto took = s.c.now() - began;
    REQUIRE(s.roll_out());
    return std::chrono::duration_cast<seconds>(took);
  };
  CHECK(fail() < seconds{1});
  fail();
  fail();
  CHECK(fail() > seconds{1});
}

TEST_CASE("a sync removes at most a burst of failed daemons, and the next one the others",
          "[daemonsets]") {
  constexpr auto burst = actors::daemon_sets::defaults::burst;
  stage s{6, static_cast<int>(burst) + 50, daemon_set()};
  REQUIRE(s.c.run_until([&] { return s.c.count<Pod>() == burst + 50; }));
  s.c.advance(seconds{5});
  auto& system = s.c.simulation().system();
  const auto controller = s.c.actor("daemonset", "default/agent");
  const auto recorder = s.c.actor("recorder", "recorder");
  const auto writer = s.c.actor("term-writer", "term-writer");
  REQUIRE(system.pause(controller, seconds{30}));
  for (const auto& pod : s.c.list<Pod>())
    s.c.change<Pod>("default", pod->meta().name(),
                    [](Pod& changed) { changed.mutable_status()->set_phase("Failed"); });
  s.c.settle();
  // Only the controller's requests wait for the writer then.
  REQUIRE(system.pause(recorder, seconds{30}));
  REQUIRE(system.pause(writer, seconds{30}));
  REQUIRE(system.resume(controller));
  s.c.settle();
  CHECK(system.actors().find(writer.id())->mailbox == burst);

  REQUIRE(system.resume(writer));
  REQUIRE(system.resume(recorder));
  CHECK(s.c.run_until([&] {
    const auto pods = s.c.list<Pod>();
    return std::none_of(pods.begin(), pods.end(), [](const auto& pod) {
      return pod->template as<Pod>().status().phase() == "Failed" &&
             !pod->meta().has_deletion_timestamp();
    });
  }));
}

TEST_CASE("despite crashes and conflicts each node gets exactly one daemon pod", "[daemonsets]") {
  for_each_seed(30, [](std::uint64_t seed) {
    cluster_options options;
    options.plane.conflict_chance = 0.05;
    stage s{seed, 4, daemon_set(), options};
    runtime::fault_plan faults;
    faults.crash = 0.003;
    faults.delay = 0.1;
    s.c.simulation().faults(faults);
    for (int i = 0; i < 8; ++i)
      s.round();
    s.image("two");
    for (int i = 0; i < 8; ++i)
      s.round();
    s.add("late");
    s.c.simulation().faults({});
    CHECK(s.roll_out(400));
    CHECK(s.pods_by_node().size() == 5);
    for (const auto& pod : s.c.list<Pod>())
      CHECK(pod->as<Pod>().spec().containers(0).image() == "two");
  });
}

TEST_CASE("a daemon set reports pods that are refused at commit", "[daemonsets]") {
  cluster_options options;
  options.plane.capacity.pods = 1;
  stage s{31, 3, daemon_set(), options};
  s.c.advance(seconds{5});
  CHECK(s.c.count<Pod>() == 1);
  std::size_t told = 0;
  for (const auto& each : s.c.list<Event>())
    told += each->as<Event>().reason() == "FailedCreate" &&
            each->as<Event>().message().starts_with("Error creating: ");
  CHECK(told > 0);
}

TEST_CASE("a daemon set that could not adopt a pod yet makes no second one", "[daemonsets]") {
  for_each_seed(20, [](std::uint64_t seed) {
    cluster_options options;
    options.plane.conflict_chance = 0.5;
    cluster c{seed, options};
    add_node(c, "n0");
    auto orphan = pod_named("orphan", "n0");
    (*orphan.mutable_metadata()->mutable_labels())["app"] = "agent";
    c.create(orphan);
    auto set = daemon_set();
    set.mutable_spec()->mutable_update_strategy()->set_type("OnDelete");
    c.create(set);
    bool alone = true;
    const auto adopted = [&] {
      alone = alone && c.count<Pod>() == 1;
      const auto pod = c.find<Pod>("default", "orphan");
      return pod && !actors::controller_uid(*pod).empty();
    };
    for (int i = 0; i < 10'000 && !adopted(); ++i)
      if (!c.simulation().step()) c.advance(std::chrono::milliseconds{10});
    CHECK(adopted());
    CHECK(alone);
  });
}

}  // namespace troupe::test
