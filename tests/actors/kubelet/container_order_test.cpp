// The order in which the containers of a pod start and end.
#include "actors/kubelet/pods/container_order.hpp"

#include <catch2/catch.hpp>

#include "actors/core/condition.hpp"
#include "api/codec/codec.hpp"
#include "api/scheme.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;
using api::core::v1::Pod;
using enum container_phase;

namespace {

Pod parse(const std::string& yaml) {
  const auto decoded = api::decode(yaml, api::media::yaml, &api::kind_of<Pod>());
  REQUIRE(decoded);
  return static_cast<const Pod&>(*decoded->content);
}

// An init container, two sidecars, and two main containers.
Pod pod_with_sidecars(const std::string& policy = "Never") {
  return parse("metadata: {uid: u}\nspec: {restartPolicy: " + policy +
               ", containers: [{name: a}, {name: b}], initContainers: [{name: i}, "
               "{name: s, restartPolicy: Always}, {name: t, restartPolicy: Always}]}");
}

struct records {
  std::vector<container_record> all;

  explicit records(const Pod& pod) : all{records_of(pod)} {}

  container_record& of(const std::string& name) {
    for (auto& record : all)
      if (record.name == name) return record;
    throw std::out_of_range{name};
  }
  void run(const std::string& name, const std::string& sandbox = "1") {
    of(name).phase = running;
    of(name).sandbox = sandbox;
  }
  void end(const std::string& name, int code = 0) {
    of(name).phase = exited;
    of(name).sandbox = "1";
    of(name).last = container_exit{.code = code};
  }
  // Names of the containers that block later ones.
  std::string holding(const std::string& sandbox = "1") const {
    std::string names;
    for (const auto& record : all)
      if (!may_start_next(record, all, sandbox)) names += record.name;
    return names;
  }
};

bool holds(const api::core::v1::PodStatus& status, const char* type) {
  const auto* condition = find_condition(status.conditions(), type);
  return condition != nullptr && condition->status() == "True";
}

}  // namespace

TEST_CASE("a sidecar delays later containers until it has started", "[kubelet]") {
  records t{pod_with_sidecars()};
  CHECK(t.holding() == "ist");
  t.end("i");
  CHECK(t.holding() == "st");
  t.run("s");
  t.of("s").started = false;  // its startup probe has no result yet
  CHECK(t.holding() == "st");
  t.of("s").started = true;
  t.of("s").preparing = true;
  CHECK(t.holding() == "st");
  t.of("s").preparing = false;
  CHECK(t.holding() == "t");
  t.run("t");
  CHECK(t.holding().empty());
}

TEST_CASE("a restarting sidecar delays no container that has started in its sandbox", "[kubelet]") {
  records t{pod_with_sidecars()};
  t.end("i");
  t.run("s");
  t.run("t");
  t.run("a");
  t.end("s", 1);
  CHECK(t.holding().empty());
  // In a new sandbox all start again.
  t.end("t");
  t.end("a");
  CHECK(t.holding("2") == "st");
}

TEST_CASE("a pod ends with its main containers, whatever the state of its sidecars", "[kubelet]") {
  for (const auto& [policy, a, over] :
       {std::tuple{"Never", 1, true}, std::tuple{"OnFailure", 0, true},
        std::tuple{"OnFailure", 1, false}, std::tuple{"Always", 0, false}}) {
    CAPTURE(policy, a);
    const auto pod = pod_with_sidecars(policy);
    records t{pod};
    t.end("i");
    t.run("s");
    t.run("t");
    t.end("a", a);
    CHECK_FALSE(is_outcome_decided(pod, t.all));
    t.end("b");
    CHECK(is_outcome_decided(pod, t.all) == over);
  }
  const auto pod = pod_with_sidecars();
  records t{pod};
  t.end("i", 1);
  CHECK(is_outcome_decided(pod, t.all));
}

TEST_CASE("sidecars end after the main containers, the last one first", "[kubelet]") {
  records t{pod_with_sidecars()};
  t.end("i");
  for (const auto* name : {"s", "t", "a", "b"})
    t.run(name);
  const auto turns = [&] {
    std::string names;
    for (const auto& record : t.all)
      if (record.runs() && has_turn_to_end(record, t.all)) names += record.name;
    return names;
  };
  CHECK(turns() == "ab");
  t.end("a");
  CHECK(turns() == "b");
  t.end("b");
  CHECK(turns() == "t");
  t.end("t");
  CHECK(turns() == "s");
}

TEST_CASE("a pod with sidecars is ready with them, and done without them", "[kubelet]") {
  const auto pod = pod_with_sidecars();
  records t{pod};
  const auto look = [&] { return observed_status(pod, t.all, {}, runtime::wall_time{}); };
  CHECK(look().phase() == "Pending");
  t.end("i");
  t.run("s");
  t.run("t");
  CHECK(look().phase() == "Pending");
  CHECK(holds(look(), "Initialized"));
  t.run("a");
  t.run("b");
  auto status = look();
  CHECK(status.phase() == "Running");
  CHECK(holds(status, "Ready"));
  CHECK(status.init_container_statuses(1).started());
  CHECK(status.init_container_statuses(1).ready());
  t.of("t").ready = false;
  CHECK_FALSE(holds(look(), "Ready"));
  t.end("s", 1);
  status = look();
  CHECK(status.phase() == "Running");
  CHECK(holds(status, "Initialized"));
  CHECK_FALSE(holds(status, "Ready"));
  // A pod whose main containers have ended waits for its sidecars, whose codes do not count.
  t.end("a");
  t.end("b");
  CHECK(look().phase() == "Running");
  t.end("t", 137);
  CHECK(look().phase() == "Succeeded");
}

TEST_CASE("an ephemeral container affects only its own status", "[kubelet]") {
  const auto pod = parse(
      "metadata: {uid: u}\nspec: {restartPolicy: Never, containers: [{name: a}], "
      "ephemeralContainers: [{name: e, image: tools, targetContainerName: a}]}");
  records t{pod};
  REQUIRE(t.all.front().role == container_role::ephemeral);
  CHECK(container_named(pod, "e")->image() == "tools");
  CHECK(field_path(pod, "e") == "spec.ephemeralContainers{e}");
  t.run("a");
  t.end("e", 1);
  CHECK_FALSE(restarts(pod, t.of("e")));
  const auto status = observed_status(pod, t.all, {}, runtime::wall_time{});
  CHECK(status.phase() == "Running");
  CHECK(holds(status, "Ready"));
  REQUIRE(status.ephemeral_container_statuses_size() == 1);
  CHECK(status.ephemeral_container_statuses(0).state().terminated().exit_code() == 1);
  CHECK(status.ephemeral_container_statuses(0).image() == "tools");
  CHECK_FALSE(status.ephemeral_container_statuses(0).ready());
  t.end("a");
  CHECK(is_outcome_decided(pod, t.all));
}

TEST_CASE("a held container is stopped in its turn, or when the grace period is over",
          "[kubelet]") {
  const auto at = [](runtime::duration since) { return runtime::time_point{} + 1h + since; };
  container_stop in_turn;
  in_turn.hold();
  CHECK(in_turn.begin(at(0s), 10s, false) == stop_step::wait);
  CHECK(in_turn.release(at(3s)) == stop_step::terminate);
  CHECK(in_turn.check(at(10s)) == stop_step::kill);
  container_stop late;
  late.hold();
  CHECK(late.begin(at(0s), 10s, true) == stop_step::run_hook);
  CHECK(late.hook_done(at(1s)) == stop_step::wait);
  CHECK(late.check(at(9s)) == stop_step::wait);
  CHECK(late.check(at(10s)) == stop_step::terminate);
  CHECK(late.deadline() == at(12s));
  CHECK(late.release(at(11s)) == stop_step::wait);
  container_stop at_once;
  at_once.hold();
  CHECK(at_once.begin(at(0s), 0s, false) == stop_step::kill);
}

}  // namespace troupe::actors
