// The use of a container runtime by pod workers, with one that has images and sandboxes but runs
// nothing: the contract for other runtimes.
#include "actors/kubelet/runtime/container_runtime.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <mutex>

#include "actors/kubelet/fake_runtime.hpp"
#include "actors/kubelet/machine.hpp"
#include "api/schema/core_config.pb.h"

namespace troupe::test {

using api::core::v1::Pod;
using calls = std::vector<std::string>;
using actors::runtime_error;

namespace {

std::string pod(const std::string& more = {}) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n" + more +
         "  containers: [{name: c, image: nginx}]\n";
}

const std::string with_init = "  initContainers: [{name: i, image: init}]\n";

struct with_fake {
  machine here;
  const std::shared_ptr<fake_runtime> runtime = std::make_shared<fake_runtime>();

  with_fake() { here.containers = runtime; }

  api::core::v1::ContainerStatus container() const {
    const auto status = here.status("web");
    return status.container_statuses_size() == 0 ? api::core::v1::ContainerStatus{}
                                                 : status.container_statuses(0);
  }
  bool waits_for(const std::string& reason) const {
    return machine::wait([&] { return container().state().waiting().reason() == reason; });
  }
};

// The pod's worker crashes. Returns when the next one has made `call`, which was then made `times`
// times altogether.
runtime::actor_ref crash_worker(with_fake& t, const std::string& call, std::ptrdiff_t times) {
  const auto& directory = t.here.system().actors();
  runtime::actor_info worker;
  directory.each([&](const runtime::actor_info& info) {
    if (info.kind == "pod-worker") worker = info;
  });
  const auto found = directory.find(worker.kind, worker.name);
  REQUIRE(t.here.system().kill(found, "a test"));
  const bool made = machine::wait([&] {
    const auto all = t.runtime->calls();
    return std::count(all.begin(), all.end(), call) == times;
  });
  CAPTURE(t.runtime->calls(), t.here.events("web", "Failed"));
  REQUIRE(made);
  return found;
}

// The guard of a pod's network, answered by the test.
class asked_guard {
 public:
  static std::function<void(actors::kubelet_options&)> adjusts(
      const std::shared_ptr<asked_guard>& guard) {
    return [guard](actors::kubelet_options& options) {
      options.guard = [guard](const api::object_ptr&, const std::vector<std::string>& addresses,
                              auto done) {
        const std::lock_guard lock{guard->mutex_};
        guard->addresses_.push_back(addresses.front());
        guard->done_ = std::move(done);
      };
    };
  }
  std::size_t count() {
    const std::lock_guard lock{mutex_};
    return addresses_.size();
  }
  std::string address() {
    const std::lock_guard lock{mutex_};
    return addresses_.back();
  }
  void answer(std::string problem) {
    const std::lock_guard lock{mutex_};
    done_(std::move(problem));
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> addresses_;
  std::function<void(std::string)> done_;
};

}  // namespace

TEST_CASE("sandbox, image and container are requested in this order", "[kubelet]") {
  with_fake t;
  t.here.start_kubelet();
  t.here.create(pod());
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  CHECK(t.runtime->calls() ==
        calls{"sandbox 1", "pull nginx", "create c 0 in s1 from sha256:nginx", "start fake://c-0"});
  CHECK(t.container().container_id() == "fake://c-0");
  CHECK(t.container().image_id() == "sha256:nginx");
  CHECK(t.here.status("web").pod_ip() == "10.9.0.1");
  t.here.remove("web");
  REQUIRE(machine::wait([&] { return !t.here.find("web"); }));
  CHECK(t.runtime->was_asked("stop fake://c-0"));
  CHECK(t.runtime->calls().back() == "remove pod");
}

TEST_CASE("a sandbox is made by the handler of the pod's runtime class, and waits for the class",
          "[kubelet]") {
  with_fake t;
  t.here.create(pod());
  // Admission rejects pods with a class that does not exist; the class may be deleted later.
  t.here.change<Pod>("web", [](Pod& p) { p.mutable_spec()->set_runtime_class_name("guarded"); });
  t.here.start_kubelet();
  REQUIRE(machine::wait([&] {
    return t.here.events("web", "FailedCreatePodSandBox") ==
           calls{"Failed to create pod sandbox: runtimeclasses.node.k8s.io \"guarded\" not found"};
  }));
  CHECK(t.runtime->calls().empty());
  t.here.create(
      "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: guarded}\nhandler: "
      "gvisor\n");
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  CHECK(t.runtime->was_asked("sandbox 1 by gvisor"));
}

TEST_CASE("containers start when the pod's network policies are in force", "[kubelet]") {
  with_fake t;
  const auto guard = std::make_shared<asked_guard>();
  t.here.adjust = guard->adjusts(guard);
  t.here.start_kubelet();
  t.here.create(pod());
  REQUIRE(machine::wait([&] { return guard->count() == 1; }));
  CHECK(guard->address() == "10.9.0.1");
  SECTION("and not before") {
    CHECK(t.runtime->calls() == calls{"sandbox 1"});
    guard->answer({});
    CHECK(machine::wait([&] { return t.here.runs("web"); }));
  }
  SECTION("a reason why it is not is an event, and it is asked again") {
    guard->answer("host ports: nft: no such table");
    REQUIRE(machine::wait([&] {
      return t.here.events("web", "NetworkNotReady") ==
             calls{"Network rules are not in force: host ports: nft: no such table"};
    }));
    CHECK(t.runtime->calls() == calls{"sandbox 1"});
    REQUIRE(machine::wait([&] { return guard->count() == 2; }));
    guard->answer({});
    CHECK(machine::wait([&] { return t.here.runs("web"); }));
  }
}

TEST_CASE("running pods are protected again when the kubelet restarts, and keep running",
          "[kubelet]") {
  with_fake t;
  const auto guard = std::make_shared<asked_guard>();
  t.here.adjust = guard->adjusts(guard);
  t.here.create(pod());
  actors::found_pod found;
  found.sandbox = actors::sandbox_status{"s0", {"10.9.0.7"}};
  found.containers.push_back({.id = "fake://old", .name = "c", .sandbox = "s0", .image = "nginx"});
  t.runtime->has(t.here.find("web")->meta().uid(), found);
  t.here.start_kubelet();
  REQUIRE(machine::wait([&] { return guard->count() == 1; }));
  CHECK(guard->address() == "10.9.0.7");
  CHECK(machine::wait([&] { return t.here.runs("web"); }));
  CHECK(t.runtime->calls() == calls{"follow sandbox s0"});
}

TEST_CASE("a pod in its node's network starts without waiting for network policies", "[kubelet]") {
  with_fake t;
  t.here.adjust = [](actors::kubelet_options& options) {
    options.guard = [](const api::object_ptr&, const std::vector<std::string>&, auto done) {
      done("refused");
    };
  };
  t.here.start_kubelet();
  t.here.create(pod("  hostNetwork: true\n"));
  CHECK(machine::wait([&] { return t.here.runs("web"); }));
}

TEST_CASE("a container whose image cannot be pulled waits with the runtime's reason", "[kubelet]") {
  with_fake t;
  t.runtime->fail_pulls(
      runtime_error{runtime_error::kind::refused, "no such image", "ErrImagePull"});
  t.here.start_kubelet();
  t.here.create(pod());
  REQUIRE(t.waits_for("ErrImagePull"));
  CHECK(t.container().state().waiting().message() == "no such image");
  CHECK(machine::wait([&] {
    auto seen = t.here.events("web", "Failed");
    std::sort(seen.begin(), seen.end());
    return seen == calls{"Error: ErrImagePull", "Failed to pull image \"nginx\": no such image"};
  }));
  CHECK_FALSE(t.runtime->was_asked("start fake://c-0"));
  // Another image is tried at once.
  t.runtime->fail_pulls({});
  t.here.change<Pod>("web",
                     [](Pod& p) { p.mutable_spec()->mutable_containers(0)->set_image("other"); });
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  CHECK(t.runtime->was_asked("create c 0 in s1 from sha256:other"));
}

TEST_CASE("an image is pulled with the secrets that there are, and an event names the others",
          "[kubelet]") {
  with_fake t;
  t.here.create("apiVersion: v1\nkind: Secret\nmetadata: {name: mine}\n");
  t.here.start_kubelet();
  t.here.create(pod("  imagePullSecrets: [{name: theirs}, {name: mine}]\n"));
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  CHECK(t.runtime->was_asked("pull nginx with mine"));
  CHECK(machine::wait([&] {
    return t.here.events("web", "FailedToRetrieveImagePullSecret") ==
           calls{
               "Unable to retrieve some image pull secrets (theirs); attempting to pull the "
               "image may not succeed."};
  }));
}

TEST_CASE("an image that is pulled has two events, one that is present a single one", "[kubelet]") {
  with_fake t;
  SECTION("present") {
    t.here.start_kubelet();
    t.here.create(pod());
    CHECK(machine::wait([&] {
      return t.here.events("web", "Pulled") ==
             calls{"Container image \"nginx\" already present on machine"};
    }));
    CHECK(t.here.events("web", "Pulling").empty());
  }
  SECTION("pulled") {
    t.runtime->pull_as({std::chrono::milliseconds{1500}, std::chrono::milliseconds{2500}, 7});
    t.here.start_kubelet();
    t.here.create(pod());
    CHECK(machine::wait([&] {
      return t.here.events("web", "Pulled") == calls{
                                                   "Successfully pulled image \"nginx\" in 1.5s "
                                                   "(2.5s including waiting). Image size: "
                                                   "7 bytes."};
    }));
    CHECK(machine::wait(
        [&] { return t.here.events("web", "Pulling") == calls{"Pulling image \"nginx\""}; }));
  }
}

TEST_CASE("a container that still cannot be created has its events again after a time",
          "[kubelet]") {
  with_fake t;
  SECTION("after no time") {
    t.here.adjust = [](actors::kubelet_options& options) { options.event_repetition = {}; };
  }
  SECTION("after minutes") {}
  t.here.create("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n");
  t.here.start_kubelet();
  t.here.create(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n"
      "  containers:\n  - name: c\n    image: nginx\n"
      "    env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: a}}}]\n");
  REQUIRE(t.waits_for("CreateContainerConfigError"));
  // Each change of the map is another attempt.
  const auto set = [&](const std::string& key) {
    t.here.change<api::core::v1::ConfigMap>("m",
                                            [&](auto& map) { (*map.mutable_data())[key] = "x"; });
  };
  const auto failed = [&] { return t.here.events("web", "Failed").size(); };
  REQUIRE(machine::wait([&] { return failed() > 0; }));
  const auto first = failed();
  set("b");
  if (t.here.adjust) {
    CHECK(machine::wait([&] { return failed() > first; }));
    return;
  }
  set("a");
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  CHECK(failed() == 1);
}

TEST_CASE("an event names what keeps a pod from being killed", "[kubelet]") {
  with_fake t;
  t.here.start_kubelet();
  const auto made = t.here.create(pod());
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  const auto errors = [&] { return t.here.events("web", "FailedKillPod"); };
  const std::string prefix = "error killing pod: failed to ";
  SECTION("its container") {
    t.runtime->fail_stops("no answer");
    t.here.remove("web", 1);
    REQUIRE(machine::wait([&] { return !errors().empty(); }));
    CHECK(errors() ==
          calls{prefix + R"("KillContainer" for "c" with KillContainerError: "no answer")"});
  }
  SECTION("its sandbox") {
    t.runtime->fail_removals("no network");
    t.here.remove("web", 1);
    REQUIRE(machine::wait([&] { return !errors().empty(); }));
    CHECK(errors() == calls{prefix + "\"KillPodSandbox\" for \"" + made->meta().uid() +
                            R"(" with KillPodSandboxError: "no network")"});
  }
  CHECK(machine::wait([&] { return t.here.find("web") == nullptr; }));
}

TEST_CASE("a container that the runtime refuses waits, one that fails to be made has ended",
          "[kubelet]") {
  with_fake t;
  SECTION("refused") {
    t.runtime->fail_creation(
        runtime_error{runtime_error::kind::refused, "no such user", "CreateContainerConfigError"});
    t.here.start_kubelet();
    t.here.create(pod());
    REQUIRE(t.waits_for("CreateContainerConfigError"));
    CHECK(t.container().restart_count() == 0);
  }
  SECTION("failed") {
    t.runtime->fail_creation(runtime_error{runtime_error::kind::failed, "the disk is full"});
    t.here.start_kubelet();
    t.here.create(pod("  restartPolicy: Never\n"));
    REQUIRE(machine::wait([&] { return t.here.ended("web"); }));
    const auto seen = t.container();
    const auto& ended = seen.state().terminated();
    CHECK(ended.reason() == "StartError");
    CHECK(ended.message() == "the disk is full");
    CHECK(ended.exit_code() == 128);
  }
}

TEST_CASE("a pod whose sandbox is lost gets a new one, and all its containers run again",
          "[kubelet]") {
  with_fake t;
  t.here.start_kubelet();
  t.here.create(pod(with_init));
  REQUIRE(machine::wait([&] { return t.runtime->was_asked("start fake://i-0"); }));
  t.runtime->end_container("fake://i-0", 0);
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  t.runtime->lose_sandbox();
  REQUIRE(machine::wait([&] { return t.runtime->was_asked("start fake://i-1"); }));
  CHECK(t.runtime->was_asked("kill fake://c-0"));
  CHECK(machine::wait([&] {
    return t.here.events("web", "SandboxChanged") ==
               calls{"Pod sandbox changed, it will be killed and re-created."} &&
           t.here.events("web", "Killing") == calls{"Stopping container c"};
  }));
  CHECK(t.runtime->was_asked("create i 1 in s2 from sha256:init"));
  CHECK_FALSE(t.runtime->was_asked("start fake://c-1"));
  t.runtime->end_container("fake://i-1", 0);
  REQUIRE(machine::wait([&] { return t.runtime->was_asked("start fake://c-1"); }));
  REQUIRE(machine::wait([&] { return t.here.status("web").pod_ip() == "10.9.0.2"; }));
}

TEST_CASE("a container that runs without its sandbox is ended before it runs again", "[kubelet]") {
  with_fake t;
  t.here.create(pod());
  actors::found_pod found;
  found.containers.push_back({.id = "fake://old", .name = "c", .sandbox = "s0", .image = "nginx"});
  t.runtime->has(t.here.find("web")->meta().uid(), found);
  t.here.start_kubelet();
  REQUIRE(machine::wait([&] { return t.runtime->was_asked("start fake://c-1"); }));
  CHECK(t.runtime->calls() == calls{"kill fake://old", "sandbox 1", "pull nginx",
                                    "create c 1 in s1 from sha256:nginx", "start fake://c-1"});
}

TEST_CASE("a sidecar starts before the others, restarts, and ends after them", "[kubelet]") {
  with_fake t;
  t.here.start_kubelet();
  t.here.create(
      pod("  restartPolicy: Never\n"
          "  initContainers: [{name: s, image: side, restartPolicy: Always}]\n"));
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  const auto all = t.runtime->calls();
  CHECK(std::find(all.begin(), all.end(), "start fake://s-0") <
        std::find(all.begin(), all.end(), "pull nginx"));
  t.runtime->end_container("fake://s-0", 1);
  REQUIRE(machine::wait(
      [&] { return t.here.status("web").init_container_statuses(0).restart_count() == 1; }));
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  CHECK_FALSE(t.runtime->was_asked("stop fake://c-0"));
  t.runtime->end_container("fake://c-0", 0);
  REQUIRE(machine::wait([&] { return t.here.ended("web"); }));
  CHECK(t.here.status("web").phase() == "Succeeded");
  CHECK(t.runtime->was_asked("stop fake://s-1"));
}

TEST_CASE("a pod that has finished gives its address back, and keeps it in its status",
          "[kubelet]") {
  with_fake t;
  t.here.start_kubelet();
  t.here.create(pod("  restartPolicy: Never\n"));
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  CHECK_FALSE(t.runtime->was_asked("stop sandboxes"));
  t.runtime->end_container("fake://c-0", 0);
  REQUIRE(machine::wait([&] { return t.runtime->was_asked("stop sandboxes"); }));
  CHECK(machine::wait([&] { return t.here.status("web").phase() == "Succeeded"; }));
  CHECK(t.here.status("web").pod_ip() == "10.9.0.1");
  CHECK_FALSE(t.runtime->was_asked("remove pod"));
}

TEST_CASE("a sidecar of a pod that is deleted ends when the main container has", "[kubelet]") {
  with_fake t;
  t.here.start_kubelet();
  t.here.create(pod("  initContainers: [{name: s, image: side, restartPolicy: Always}]\n"));
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  t.here.remove("web");
  REQUIRE(machine::wait([&] { return !t.here.find("web"); }));
  const auto all = t.runtime->calls();
  CHECK(std::find(all.begin(), all.end(), "stop fake://c-0") <
        std::find(all.begin(), all.end(), "stop fake://s-0"));
}

TEST_CASE("an ephemeral container runs once beside the others, and sees its target", "[kubelet]") {
  with_fake t;
  t.here.start_kubelet();
  t.here.create(pod());
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  const auto add = [&](const std::string& name, const std::string& target) {
    t.here.change<Pod>("web", [&](Pod& p) {
      auto& added = *p.mutable_spec()->add_ephemeral_containers();
      added.mutable_ephemeral_container_common()->set_name(name);
      added.mutable_ephemeral_container_common()->set_image("tools");
      added.set_target_container_name(target);
    });
  };
  add("e", "c");
  REQUIRE(machine::wait([&] { return t.runtime->was_asked("start fake://e-0"); }));
  CHECK(t.runtime->was_asked("create e 0 in s1 from sha256:tools at fake://c-0"));
  t.runtime->end_container("fake://e-0", 3);
  REQUIRE(machine::wait([&] {
    const auto status = t.here.status("web");
    return status.ephemeral_container_statuses_size() == 1 &&
           status.ephemeral_container_statuses(0).state().terminated().exit_code() == 3;
  }));
  CHECK(t.here.runs("web"));
  add("f", "nobody");
  CHECK(machine::wait([&] {
    return t.here.events("web", "Failed") == calls{"Error: unable to find target container nobody"};
  }));
  CHECK_FALSE(t.runtime->was_asked("start fake://e-1"));
}

TEST_CASE("a container that was made and never started is made again", "[kubelet]") {
  with_fake t;
  t.here.create(pod());
  actors::found_pod found;
  found.sandbox = actors::sandbox_status{"s0", {"10.9.0.7"}};
  found.containers.push_back({.id = "fake://old", .name = "c", .started = false});
  t.runtime->has(t.here.find("web")->meta().uid(), found);
  t.here.start_kubelet();
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  CHECK(t.runtime->calls() == calls{"follow sandbox s0", "remove fake://old", "pull nginx",
                                    "create c 0 in s0 from sha256:nginx", "start fake://c-0"});
  CHECK(t.here.status("web").pod_ip() == "10.9.0.7");
}

TEST_CASE("a running container is found by its id, and is not started a second time", "[kubelet]") {
  with_fake t;
  t.here.create(pod());
  actors::found_pod found;
  found.sandbox = actors::sandbox_status{"s0"};
  found.containers.push_back({.id = "fake://old",
                              .name = "c",
                              .attempt = 3,
                              .sandbox = "s0",
                              .image = "nginx",
                              .before = actors::container_exit{.code = 4},
                              .before_id = "fake://older"});
  t.runtime->has(t.here.find("web")->meta().uid(), found);
  t.here.start_kubelet();
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  CHECK(t.runtime->calls() == calls{"follow sandbox s0"});
  CHECK(t.container().container_id() == "fake://old");
  CHECK(t.container().restart_count() == 3);
  CHECK(t.container().last_state().terminated().container_id() == "fake://older");
  CHECK(t.container().last_state().terminated().exit_code() == 4);
}

TEST_CASE("a worker that crashed during the pull of an image creates one container", "[kubelet]") {
  with_fake t;
  t.runtime->hold_pulls();
  t.here.start_kubelet();
  t.here.create(pod());
  REQUIRE(machine::wait([&] { return t.runtime->was_asked("pull nginx"); }));
  const auto worker = crash_worker(t, "pull nginx", 2);
  REQUIRE(t.here.system().pause(worker, std::chrono::minutes{5}));
  t.runtime->answer_held();
  t.here.system().resume(worker);
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  const auto all = t.runtime->calls();
  CHECK(std::count_if(all.begin(), all.end(),
                      [](const auto& call) { return call.starts_with("create c 0"); }) == 1);
}

TEST_CASE("a container that was created for a crashed worker is removed", "[kubelet]") {
  with_fake t;
  t.runtime->hold_creations();
  t.here.start_kubelet();
  const auto uid = t.here.create(pod())->meta().uid();
  const std::string create = "create c 0 in s1 from sha256:nginx";
  REQUIRE(machine::wait([&] { return t.runtime->was_asked(create); }));
  t.runtime->has(uid, {.sandbox = actors::sandbox_status{"s1"}, .containers = {}});
  crash_worker(t, create, 2);
  t.runtime->answer_held();
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  CHECK(t.container().container_id() == "fake://c-0-1");
  CHECK(t.runtime->was_asked("remove fake://c-0"));
  CHECK_FALSE(t.runtime->was_asked("start fake://c-0"));
}

TEST_CASE("the end of a crashed worker's container is not taken for that of the next one",
          "[kubelet]") {
  with_fake t;
  t.here.start_kubelet();
  const auto uid = t.here.create(pod())->meta().uid();
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  // As if the worker crashed before its start of the container took effect.
  t.runtime->has(
      uid, {.sandbox = actors::sandbox_status{"s1"},
            .containers = {{.id = "fake://c-0", .name = "c", .sandbox = "s1", .started = false}}});
  crash_worker(t, "start fake://c-0-1", 1);
  t.runtime->end_container("fake://c-0", 1);
  t.here.remove("web");
  REQUIRE(machine::wait([&] { return !t.here.find("web"); }));
  CHECK(t.runtime->was_asked("stop fake://c-0-1"));
  CHECK_FALSE(t.runtime->was_asked("create c 1 in s1 from sha256:nginx"));
}

TEST_CASE("a sandbox that was lost for a crashed worker is not taken from the next one",
          "[kubelet]") {
  with_fake t;
  t.here.start_kubelet();
  const auto uid = t.here.create(pod())->meta().uid();
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  const auto lost = t.runtime->sandbox();
  t.runtime->has(uid, {.sandbox = actors::sandbox_status{"s1"},
                       .containers = {{.id = "fake://c-0", .name = "c", .sandbox = "s1"}}});
  crash_worker(t, "follow sandbox s1", 1);
  lost(actors::sandbox_lost{{runtime_error::kind::failed, "its name is in use"}});
  t.here.remove("web");
  REQUIRE(machine::wait([&] { return !t.here.find("web"); }));
  CHECK_FALSE(t.runtime->was_asked("sandbox 2"));
  CHECK(machine::wait(
      [&] { return t.here.events("web", "Killing") == calls{"Stopping container c"}; }));
}

TEST_CASE("a pod that is deleted while its image is pulled is gone at once", "[kubelet]") {
  with_fake t;
  t.runtime->hold_pulls();
  t.here.start_kubelet();
  t.here.create(pod("  terminationGracePeriodSeconds: 600\n"));
  REQUIRE(machine::wait([&] { return t.runtime->was_asked("pull nginx"); }));
  t.here.remove("web");
  CHECK(machine::wait([&] { return !t.here.find("web"); }));
  CHECK(t.runtime->calls().back() == "remove pod");
}

TEST_CASE("a list of pods that a crashed kubelet asked for ends no pod of the next one",
          "[kubelet]") {
  with_fake t;
  t.here.adjust = [](actors::kubelet_options& options) {
    options.orphan_sweep = std::chrono::milliseconds{100};
  };
  t.here.start_kubelet();
  const auto web = t.here.create(pod());
  REQUIRE(machine::wait([&] { return t.here.runs("web"); }));
  t.runtime->hold_lists();
  REQUIRE(machine::wait([&] { return t.runtime->was_listed(); }));
  // The next kubelet does not know its pods while the watcher is silent.
  auto& system = t.here.system();
  const auto watcher = system.actors().find("watcher", "watcher");
  t.here.crash_kubelet({}, [&] {
    REQUIRE(system.pause(watcher, std::chrono::minutes{5}));
    t.runtime->answer_list({web->meta().uid()});
  });
  const auto kubelet = system.actors().find("kubelet", "here");
  REQUIRE(machine::wait([&] { return system.actors().find(kubelet.id())->mailbox == 0; }));
  system.resume(watcher);
  t.here.change<Pod>(
      "web", [](Pod& each) { (*each.mutable_metadata()->mutable_annotations())["seen"] = "yes"; });
  auto next = pod();
  next.replace(next.find("web"), 3, "next");
  t.here.create(next);
  REQUIRE(machine::wait([&] { return t.here.runs("next"); }));
  CHECK_FALSE(t.runtime->was_asked("remove pod"));
  CHECK(t.here.runs("web"));
}

}  // namespace troupe::test
