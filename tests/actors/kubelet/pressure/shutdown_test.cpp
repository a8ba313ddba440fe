// A machine's shutdown: its pods fail in the order of their priority, each with a timeout.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <memory>

#include "actors/core/condition.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/machine.hpp"
#include "actors/kubelet/node/shutdown_plan.hpp"
#include "api/schema/core_node.pb.h"

namespace troupe::test {

namespace {

using namespace std::chrono_literals;
using api::core::v1::Node;
using api::core::v1::Pod;

api::object_ptr pod_of(const std::string& uid, int priority, const std::string& phase = "Running") {
  auto pod = std::make_unique<Pod>();
  pod->mutable_metadata()->set_uid(uid);
  pod->mutable_spec()->set_priority(priority);
  pod->mutable_spec()->set_termination_grace_period_seconds(30);
  pod->mutable_status()->set_phase(phase);
  return std::make_shared<const api::object>(api::kind_of<Pod>(), std::move(pod), 1);
}

std::vector<std::string> uids(const actors::shutdown_step& step) {
  std::vector<std::string> all;
  for (const auto& each : step.pods)
    all.push_back(each->meta().uid());
  return all;
}

constexpr int critical = actors::kubelet_defaults::system_critical_priority;

std::string sleeping_pod(const std::string& name, const std::string& command = "exec sleep 300") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         "}\nspec:\n  terminationGracePeriodSeconds: 600\n  containers:\n  - name: c\n"
         "    image: x\n    command: [sh, -c, \"" +
         command + "\"]\n";
}

std::future<bool> shut_down(machine& here) {
  const auto done = std::make_shared<std::promise<bool>>();
  actors::shut_down_pods(here.system(), here.system().actors().find("kubelet", "here"), 2min,
                         [done](bool all) { done->set_value(all); });
  return done->get_future();
}

}  // namespace

TEST_CASE("critical pods end last, and keep their part of the time", "[kubelet]") {
  const std::vector<api::object_ptr> pods{pod_of("a", 0), pod_of("dns", critical),
                                          pod_of("negative", -5), pod_of("ended", 0, "Failed"),
                                          pod_of("waiting", 0, "Pending")};
  const auto steps = actors::plan_shutdown(pods, {.all = 30s, .critical = 10s});
  REQUIRE(steps.size() == 2);
  CHECK(uids(steps[0]) == std::vector<std::string>{"a", "negative", "waiting"});
  CHECK(steps[0].time == 20s);
  CHECK(uids(steps[1]) == std::vector<std::string>{"dns"});
  CHECK(steps[1].time == 10s);
  // More than the total means the total.
  CHECK(actors::plan_shutdown(pods, {.all = 5s, .critical = 10s})[0].time == 0s);
  CHECK(actors::plan_shutdown({pods[3]}, {.all = 5s}).empty());
}

TEST_CASE("a pod that is shut down has its own grace or less", "[kubelet]") {
  const auto pod = pod_of("a", 0);
  CHECK(actors::shutdown_failure(pod->as<Pod>(), 20s).grace == 20s);
  CHECK(actors::shutdown_failure(pod->as<Pod>(), 40s).grace == 30s);
  CHECK(actors::shutdown_failure(pod->as<Pod>(), 40s).reason == "Terminated");
}

TEST_CASE("a machine that shuts down fails its pods, and is not ready", "[kubelet]") {
  machine here;
  here.adjust = [](actors::kubelet_options& options) { options.shutdown = {.all = 60s}; };
  here.start_kubelet();
  here.create(sleeping_pod("a"));
  here.create(sleeping_pod("b"));
  REQUIRE(machine::wait([&] { return here.runs("a") && here.runs("b"); }));
  CHECK(shut_down(here).get());
  for (const auto* name : {"a", "b"}) {
    const auto status = here.status(name);
    CHECK(status.phase() == "Failed");
    CHECK(status.reason() == "Terminated");
    CHECK(status.message() == "Pod was terminated in response to imminent node shutdown.");
    CHECK(status.container_statuses(0).state().has_terminated());
    const auto* target = actors::find_condition(status.conditions(), "DisruptionTarget");
    REQUIRE(target != nullptr);
    CHECK(target->status() == "True");
    CHECK(target->reason() == "TerminationByKubelet");
  }
  here.create(sleeping_pod("late"));
  REQUIRE(machine::wait([&] { return here.status("late").phase() == "Failed"; }));
  CHECK(here.status("late").reason() == "NodeShutdown");
  CHECK(here.status("late").message() ==
        "Pod was rejected: Pod was rejected as the node is shutting down.");
  const auto node = here.change<Node>("here", [](Node&) {});
  const auto* ready = actors::find_condition(node->as<Node>().status().conditions(), "Ready");
  REQUIRE(ready != nullptr);
  CHECK(ready->status() == "False");
  CHECK(ready->reason() == "KubeletNotReady");
  CHECK(ready->message() == "node is shutting down");
  // A second request finds nothing to do.
  CHECK(shut_down(here).get());
}

TEST_CASE("a shutdown waits no longer than it may for a pod that does not end", "[kubelet]") {
  machine here;
  here.adjust = [](actors::kubelet_options& options) { options.shutdown = {.all = 1s}; };
  here.start_kubelet();
  auto begun = std::chrono::steady_clock::now();
  here.create(sleeping_pod("deaf", "trap '' TERM; exec sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("deaf"); }));
  const auto usual = std::chrono::steady_clock::now() - begun;
  begun += usual;
  CHECK(shut_down(here).get());
  CHECK(std::chrono::steady_clock::now() - begun < 10s + 10 * usual);
  // Its grace period was the time of its step: then it is killed.
  CHECK(machine::wait([&] { return here.status("deaf").reason() == "Terminated"; }));
}

TEST_CASE("a shutdown goes on though the kubelet crashes meanwhile", "[kubelet]") {
  machine here;
  here.adjust = [](actors::kubelet_options& options) { options.shutdown = {.all = 60s}; };
  here.start_kubelet();
  here.create(sleeping_pod("a"));
  REQUIRE(machine::wait([&] { return here.runs("a"); }));
  std::future<bool> done;
  here.crash_kubelet([&] { done = shut_down(here); });
  CHECK(done.get());
  CHECK(here.status("a").reason() == "Terminated");
}

TEST_CASE("a shutdown goes on though the worker of a pod crashes meanwhile", "[kubelet]") {
  machine here;
  here.adjust = [](actors::kubelet_options& options) { options.shutdown = {.all = 60s}; };
  here.start_kubelet();
  // It ends when it is asked the second time.
  here.create(sleeping_pod("a",
                           "trap 'test $n && exit 0; n=1; echo asked' TERM; echo up; "
                           "while :; do sleep 0.1; done"));
  REQUIRE(machine::wait([&] { return here.log("a") == "up\n"; }));
  auto done = shut_down(here);
  REQUIRE(machine::wait([&] { return here.log("a") == "up\nasked\n"; }));
  runtime::actor_info worker;
  here.system().actors().each([&](const runtime::actor_info& info) {
    if (info.kind == "pod-worker") worker = info;
  });
  REQUIRE(here.system().kill(here.system().actors().find(worker.kind, worker.name), "a test"));
  CHECK(done.get());
  CHECK(here.status("a").reason() == "Terminated");
}

}  // namespace troupe::test
