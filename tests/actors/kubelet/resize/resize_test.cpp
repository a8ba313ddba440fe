// In-place resize of pods by a kubelet: with the fake runtime, and with real processes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "actors/core/condition.hpp"
#include "actors/kubelet/fake_runtime.hpp"
#include "actors/kubelet/machine.hpp"
#include "actors/kubelet/runtimes/process/cgroup.hpp"
#include "support/skip.hpp"

namespace troupe::test {

using actors::find_condition;
using api::core::v1::Pod;
using calls = std::vector<std::string>;

namespace {

std::string pod_yaml(const std::string& name, const std::string& cpu,
                     const std::string& more = {}) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", generation: 1}\nspec:\n" +
         "  terminationGracePeriodSeconds: 1\n  containers: [{name: c, image: nginx, command: "
         "[sleep, '300'], " +
         more + "resources: {requests: {cpu: " + cpu + "}}}]\n";
}

// Like pods/resize.
void ask_for(machine& here, const std::string& pod, const std::string& cpu) {
  here.change<Pod>(pod, [&](Pod& p) {
    auto& requests = *p.mutable_spec()->mutable_containers(0)->mutable_resources();
    (*requests.mutable_requests())["cpu"].set_string(cpu);
    p.mutable_metadata()->set_generation(p.metadata().generation() + 1);
  });
}

struct resized {
  machine here;
  const std::shared_ptr<fake_runtime> runtime = std::make_shared<fake_runtime>();

  resized() { here.containers = runtime; }

  void run(const std::string& name, const std::string& cpu, const std::string& more = {}) {
    here.create(pod_yaml(name, cpu, more));
    REQUIRE(machine::wait([&] { return here.runs(name); }));
  }
  // The allocated and the actual processors, and the reason of a pending resize.
  std::string state(const std::string& name) const {
    const auto status = here.status(name);
    const auto& container = status.container_statuses(0);
    const auto amount = [](const auto& of) {
      const auto found = of.find("cpu");
      return found == of.end() ? std::string{"none"} : found->second.string();
    };
    const auto* pending = find_condition(status.conditions(), "PodResizePending");
    const auto* progress = find_condition(status.conditions(), "PodResizeInProgress");
    return amount(container.allocated_resources()) + " " +
           amount(container.resources().requests()) +
           (pending != nullptr ? " " + pending->reason() : "") +
           (progress != nullptr ? " in progress " + progress->reason() : "");
  }
  bool becomes(const std::string& name, const std::string& wanted) const {
    const bool came = machine::wait([&] { return state(name) == wanted; });
    if (!came) UNSCOPED_INFO(name << " is " << state(name));
    return came;
  }
  std::size_t count(const std::string& beginning) {
    const auto all = runtime->calls();
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](const auto& call) { return call.starts_with(beginning); }));
  }
  // 50m less than the machine's capacity.
  static std::string nearly_all() {
    return std::to_string(std::thread::hardware_concurrency() * 1'000 - 50) + "m";
  }
};

}  // namespace

TEST_CASE("a pod is resized while it runs, and its status shows it", "[kubelet][resize]") {
  resized t;
  t.here.start_kubelet();
  t.run("a", "100m");
  CHECK(t.state("a") == "100m 100m");
  ask_for(t.here, "a", "200m");
  REQUIRE(t.becomes("a", "200m 200m"));
  CHECK(t.runtime->was_asked("resize 200m (was 100m): fake://c-0"));
  CHECK(t.count("create") == 1);
  CHECK(t.here.status("a").container_statuses(0).restart_count() == 0);
}

TEST_CASE("burstable pods together have the shares that they request", "[kubelet][resize]") {
  resized t;
  t.here.start_kubelet();
  const auto share_is = [&](std::int64_t milli_cpu) {
    return machine::wait([&] { return t.runtime->burstable_milli_cpu() == milli_cpu; });
  };
  CHECK(share_is(0));
  t.run("a", "100m");
  t.here.create(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: whole}\nspec: {containers: [{name: whole, "
      "image: x, "
      "resources: {requests: {cpu: 50m, memory: 1Mi}, limits: {cpu: 50m, memory: 1Mi}}}]}\n");
  REQUIRE(t.here.status("whole").qos_class() == "Guaranteed");
  REQUIRE(machine::wait([&] { return t.here.runs("whole"); }));
  t.run("b", "50m");
  CHECK(share_is(150));
  ask_for(t.here, "a", "200m");
  CHECK(share_is(250));
  t.here.stop_kubelet();
  t.runtime->share_cpu(-1);
  t.here.start_kubelet();
  CHECK(share_is(250));
  t.here.remove("b", 0);
  CHECK(share_is(200));
}

TEST_CASE("a resize that finds no room waits until another pod ends", "[kubelet][resize]") {
  resized t;
  t.here.start_kubelet();
  t.run("a", "100m");
  t.run("b", "100m");
  ask_for(t.here, "a", t.nearly_all());
  REQUIRE(t.becomes("a", "100m 100m Deferred"));
  CHECK(t.count("resize") == 0);
  SECTION("what waits keeps no room from others") {
    t.run("c", "50m");
    CHECK(t.here.status("c").phase() == "Running");
  }
  SECTION("and takes the room of a pod that has gone") {
    t.here.remove("b", 0);
    CHECK(t.becomes("a", t.nearly_all() + " " + t.nearly_all()));
  }
  SECTION("and is given up when the pod asks for what it has") {
    ask_for(t.here, "a", "100m");
    CHECK(t.becomes("a", "100m 100m"));
  }
}

TEST_CASE("a resize beyond the node is infeasible, and its reason is kept", "[kubelet][resize]") {
  resized t;
  t.here.start_kubelet();
  t.run("a", "100m");
  ask_for(t.here, "a", "100000");
  REQUIRE(t.becomes("a", "100m 100m Infeasible"));
  t.here.stop_kubelet();
  t.here.start_kubelet();
  CHECK(t.state("a") == "100m 100m Infeasible");
  ask_for(t.here, "a", "150m");
  CHECK(t.becomes("a", "150m 150m"));
}

TEST_CASE("a container restarts for a resize where its policy says so", "[kubelet][resize]") {
  resized t;
  t.here.start_kubelet();
  t.run("a", "100m", "resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}], ");
  ask_for(t.here, "a", "200m");
  REQUIRE(machine::wait([&] {
    return t.here.runs("a") && t.here.status("a").container_statuses(0).restart_count() == 1;
  }));
  CHECK(t.becomes("a", "200m 200m"));
  CHECK(machine::wait([&] {
    return t.here.events("a", "Killing") == calls{"Container c resize requires restart"};
  }));
  // The pod's control group grows while no container runs in it.
  const auto all = t.runtime->calls();
  const auto at = [&](const std::string& call) {
    return std::find(all.begin(), all.end(), call) - all.begin();
  };
  CHECK(at("stop fake://c-0") < at("resize 200m (was 100m):"));
  CHECK(at("resize 200m (was 100m):") < at("start fake://c-1"));
}

TEST_CASE("a resize that fails is reported and tried again", "[kubelet][resize]") {
  resized t;
  t.here.start_kubelet();
  t.run("a", "100m");
  t.runtime->fail_resizes(
      actors::runtime_error{actors::runtime_error::kind::failed, "the kernel refuses"});
  ask_for(t.here, "a", "200m");
  REQUIRE(t.becomes("a", "200m 100m in progress Error"));
  const auto status = t.here.status("a");
  CHECK(find_condition(status.conditions(), "PodResizeInProgress")->message() ==
        "the kernel refuses");
  t.runtime->fail_resizes({});
  CHECK(t.becomes("a", "200m 200m"));
}

TEST_CASE("a kubelet that restarts completes allocated resizes", "[kubelet][resize]") {
  resized t;
  t.here.start_kubelet();
  t.run("a", "100m");
  t.runtime->fail_resizes(actors::runtime_error{actors::runtime_error::kind::failed, "busy"});
  ask_for(t.here, "a", "200m");
  REQUIRE(t.becomes("a", "200m 100m in progress Error"));
  const auto uid = t.here.find("a")->meta().uid();
  const auto container = t.here.status("a").container_statuses(0);
  t.here.stop_kubelet();
  t.runtime->fail_resizes({});
  t.runtime->has(uid, {.sandbox = actors::sandbox_status{"s1", {"10.9.0.1"}},
                       .containers = {{.id = container.container_id(),
                                       .name = "c",
                                       .sandbox = "s1",
                                       .image = "nginx",
                                       .image_ref = container.image_id()}}});
  t.here.start_kubelet();
  CHECK(t.becomes("a", "200m 200m"));
  // How far the resize got is unknown: everything is set again.
  CHECK(t.runtime->was_asked("resize 200m (was ?): fake://c-0"));
  CHECK(t.count("create") == 1);
}

TEST_CASE("processes get other limits while they run", "[kubelet][resize]") {
  const auto groups = actors::cgroup_tree::find();
  if (!groups.keeps_limits()) return test::skip(groups.about());
  machine here;
  here.start_kubelet();
  here.create(pod_yaml("a", "100m"));
  REQUIRE(machine::wait([&] { return here.runs("a"); }));
  ask_for(here, "a", "500m");
  const auto group = "troupe/" + here.find("a")->meta().uid() + "/c-0/";
  CHECK(machine::wait([&] {
    return text_of("/sys/fs/cgroup/" + group + "cpu.weight") == "20\n" ||
           text_of("/sys/fs/cgroup/cpu/" + group + "cpu.shares") == "512\n";
  }));
  CHECK(machine::wait([&] {
    const auto status = here.status("a");
    return status.container_statuses(0).resources().requests().at("cpu").string() == "500m" &&
           find_condition(status.conditions(), "PodResizeInProgress") == nullptr;
  }));
}

}  // namespace troupe::test
