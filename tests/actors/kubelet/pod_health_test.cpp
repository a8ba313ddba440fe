// Probes and hooks of pods on a real kubelet.
#include <signal.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "actors/core/condition.hpp"
#include "actors/kubelet/machine.hpp"

namespace troupe::test {

using api::core::v1::Pod;

namespace {

// A pod of one container "c" that runs a script, with more fields in the container.
std::string pod_with(const std::string& name, const std::string& script, const std::string& more) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         "}\nspec:\n  terminationGracePeriodSeconds: 60\n  containers:\n  - name: c\n    image: x\n"
         "    command: [sh, -c, '" +
         script + "']\n" + more;
}

bool condition(const machine& here, const std::string& pod, const char* type) {
  const auto status = here.status(pod);
  const auto* found = actors::find_condition(status.conditions(), type);
  return found != nullptr && found->status() == "True";
}

int restarts(const machine& here, const std::string& pod) {
  const auto status = here.status(pod);
  return status.container_statuses_size() == 0 ? -1 : status.container_statuses(0).restart_count();
}

std::string exec_probe(const std::string& kind, const std::string& script, int failures = 1) {
  return "    " + kind + ":\n      exec: {command: [sh, -c, '" + script +
         "']}\n      periodSeconds: 1\n      timeoutSeconds: 60\n      failureThreshold: " +
         std::to_string(failures) + "\n";
}

}  // namespace

TEST_CASE("a pod is ready only while its readiness probe succeeds", "[kubelet]") {
  machine here;
  here.start_kubelet();
  const auto flag = here.root().parent_path() / "flag";
  here.create(
      pod_with("web", "exec sleep 300", exec_probe("readinessProbe", "test -e " + flag.string())));
  REQUIRE(machine::wait([&] { return here.runs("web", false); }));
  CHECK_FALSE(condition(here, "web", "Ready"));
  std::ofstream{flag} << "here";
  REQUIRE(machine::wait([&] { return here.runs("web", true); }));
  CHECK(machine::wait([&] { return condition(here, "web", "Ready"); }));
  CHECK(condition(here, "web", "ContainersReady"));
  // A ready container stays ready for the next kubelet.
  const auto written = here.find("web")->revision();
  here.stop_kubelet();
  here.start_kubelet();
  here.create(pod_with("later", "exec sleep 300", {}));
  REQUIRE(machine::wait([&] { return here.runs("later"); }));
  // It never was anything else: no status was written.
  CHECK(here.find("web")->revision() == written);
  std::filesystem::remove(flag);
  CHECK(machine::wait([&] { return here.runs("web", false); }));
  CHECK(machine::wait([&] { return !here.events("web", "Unhealthy").empty(); }));
  CHECK(restarts(here, "web") == 0);
}

TEST_CASE("a container that fails its liveness probe is ended and started again", "[kubelet]") {
  machine here;
  here.start_kubelet();
  // It would succeed, with a policy that restarts failures only: the probe's result wins.
  here.create(pod_with(
      "web", "trap \"exit 0\" TERM; while :; do sleep 0.1; done",
      exec_probe("livenessProbe", "echo sick; exit 1", 2) + "  restartPolicy: OnFailure\n"));
  REQUIRE(machine::wait([&] { return restarts(here, "web") == 1; }));
  // The recorder's event is independent of the status and sometimes comes later.
  REQUIRE(machine::wait([&] {
    return here.events("web", "Unhealthy").size() >= 2 && !here.events("web", "Killing").empty();
  }));
  CHECK(here.events("web", "Unhealthy").front() == "Liveness probe failed: sick\n");
  CHECK(here.events("web", "Killing").front() ==
        "Container c failed liveness probe, will be restarted");
  CHECK(here.status("web").container_statuses(0).last_state().terminated().exit_code() == 0);
}

TEST_CASE("a probe may give a container less time to end than its pod does", "[kubelet]") {
  machine here;
  here.start_kubelet();
  auto pod =
      pod_with("web", "trap \"\" TERM; while :; do sleep 0.1; done",
               exec_probe("livenessProbe", "exit 1") + "      terminationGracePeriodSeconds: 1\n");
  const std::string seconds = "terminationGracePeriodSeconds: 60";
  here.create(pod.replace(pod.find(seconds), seconds.size(), "terminationGracePeriodSeconds: 300"));
  REQUIRE(machine::wait([&] { return restarts(here, "web") == 1; }));
  CHECK(here.status("web").container_statuses(0).last_state().terminated().signal() == SIGKILL);
  here.remove("web", 0);
}

TEST_CASE("a container has started when its startup probe succeeds", "[kubelet]") {
  machine here;
  here.start_kubelet();
  const auto flag = here.root().parent_path() / "flag";
  here.create(pod_with("web", "exec sleep 300",
                       exec_probe("startupProbe", "test -e " + flag.string(), 100)));
  REQUIRE(machine::wait([&] { return here.runs("web", false); }));
  CHECK_FALSE(here.status("web").container_statuses(0).started());
  std::ofstream{flag} << "here";
  CHECK(machine::wait([&] {
    return here.runs("web", true) && here.status("web").container_statuses(0).started();
  }));
}

TEST_CASE("hooks run in the container, and preStop before SIGTERM", "[kubelet]") {
  machine here;
  here.start_kubelet();
  const auto said = here.root().parent_path() / "said";
  here.create(pod_with(
      "web", "trap \"echo term >>" + said.string() + "; exit 0\" TERM; while :; do sleep 0.1; done",
      "    lifecycle:\n      postStart: {exec: {command: [sh, -c, 'echo start >>" + said.string() +
          "']}}\n      preStop: {exec: {command: [sh, -c, 'echo stop >>" + said.string() +
          "; exit 1']}}\n"));
  REQUIRE(machine::wait([&] { return here.runs("web"); }));
  CHECK(text_of(said) == "start\n");
  here.remove("web");
  REQUIRE(machine::wait([&] { return !here.find("web"); }));
  CHECK(text_of(said) == "start\nstop\nterm\n");
  CHECK(machine::wait([&] { return here.events("web", "FailedPreStopHook").size() == 1; }));
}

TEST_CASE("a container whose postStart hook is lost with the kubelet or the worker becomes ready",
          "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(
      pod_with("web", "exec sleep 300", "    lifecycle: {postStart: {sleep: {seconds: 300}}}\n"));
  REQUIRE(machine::wait([&] { return here.runs("web", false); }));
  const auto container = here.status("web").container_statuses(0).container_id();
  SECTION("the kubelet") {
    here.stop_kubelet();
    here.start_kubelet();
  }
  SECTION("the worker") {
    runtime::actor_ref worker;
    here.system().actors().each([&](const runtime::actor_info& info) {
      if (info.kind == "pod-worker") worker = here.system().actors().find(info.kind, info.name);
    });
    REQUIRE(here.system().kill(worker, "no idea"));
  }
  REQUIRE(machine::wait([&] { return here.runs("web"); }));
  CHECK(here.status("web").container_statuses(0).container_id() == container);
  here.remove("web", 0);
}

TEST_CASE("a container whose postStart hook fails is ended and started again", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(
      pod_with("web", "exec sleep 300",
               "    lifecycle: {postStart: {exec: {command: [sh, -c, 'echo no; exit 7']}}}\n"));
  REQUIRE(machine::wait([&] { return restarts(here, "web") == 1; }));
  REQUIRE(machine::wait([&] { return !here.events("web", "FailedPostStartHook").empty(); }));
  CHECK(here.events("web", "FailedPostStartHook").front() == "PostStartHook failed");
  CHECK(here.status("web").container_statuses(0).last_state().terminated().signal() == SIGTERM);
}

TEST_CASE("a preStop hook that sleeps delays SIGTERM", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(
      pod_with("web", "exec sleep 300", "    lifecycle: {preStop: {sleep: {seconds: 1}}}\n"));
  REQUIRE(machine::wait([&] { return here.runs("web"); }));
  const auto begun = std::chrono::steady_clock::now();
  here.remove("web");
  REQUIRE(machine::wait([&] { return !here.find("web"); }));
  CHECK(std::chrono::steady_clock::now() - begun >= std::chrono::milliseconds{900});
}

TEST_CASE("a pod's event names the fields that the process runtime does not support", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(pod_with("web", "exec sleep 300",
                       "    terminationMessagePath: /dev/end\n    tty: true\n    stdin: true\n"));
  REQUIRE(machine::wait([&] { return here.runs("web", true); }));
  REQUIRE(machine::wait([&] { return !here.events("web", "NotSupported").empty(); }));
  CHECK(here.events("web", "NotSupported") ==
        std::vector<std::string>{"the process runtime does not honour "
                                 "spec.containers{c}.terminationMessagePath"});
}

}  // namespace troupe::test
