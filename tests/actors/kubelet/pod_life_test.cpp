// Pods on a real kubelet with real processes: their life as the API shows it.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "actors/core/metrics.hpp"
#include "actors/kubelet/machine.hpp"
#include "actors/kubelet/node/node_facts.hpp"
#include "actors/kubelet/runtimes/process/cgroup.hpp"
#include "actors/kubelet/runtimes/process/container_dir.hpp"
#include "actors/kubelet/runtimes/process/container_files.hpp"
#include "actors/kubelet/runtimes/process/process_runtime.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/meta_object.pb.h"
#include "build_paths.hpp"
#include "support/skip.hpp"

namespace troupe::test {

using api::core::v1::Node;
using api::core::v1::Pod;

namespace {

// A pod of one container "c" that runs a script; `more` is added to its spec.
std::string shell_pod(const std::string& name, const std::string& script,
                      const std::string& more = {}) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         "}\nspec:\n  terminationGracePeriodSeconds: 1\n  containers:\n  - name: c\n    image: x\n"
         "    command: [sh, -c, \"" +
         script + "\"]\n" + more;
}

// How long a start may take that waits for no back-off, which is ten seconds: longer on a machine
// that took long for a similar one.
std::chrono::seconds without_back_off(std::chrono::nanoseconds similar) {
  return std::chrono::ceil<std::chrono::seconds>(std::chrono::seconds{5} + 10 * similar);
}

}  // namespace

TEST_CASE("a pod runs, is deleted with grace, and leaves nothing", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(
      shell_pod("web", "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done"));
  REQUIRE(machine::wait([&] { return here.runs("web") && here.log("web") == "up\n"; }));
  const auto files = here.pod_dir("web");
  CHECK(std::filesystem::exists(files));
  here.remove("web");
  CHECK(machine::wait([&] { return !here.find("web"); }));
  CHECK_FALSE(std::filesystem::exists(files));
  CHECK(machine::wait([&] {
    return here.events("web", "Killing") == std::vector<std::string>{"Stopping container c"};
  }));
}

TEST_CASE("running pods and their starts are counted", "[kubelet]") {
  const auto& counted = actors::metrics_of_kubelet();
  const auto starts = [&counted] {
    std::uint64_t all = 0;
    for (const auto& each : counted.pod_starts.counts)
      all += each;
    return all;
  };
  machine here;
  here.start_kubelet();
  const std::int64_t pods = counted.running_pods, containers = counted.running_containers;
  const auto before = starts();
  here.create(shell_pod("web", "exec sleep 300"));
  CHECK(machine::wait([&] {
    return counted.running_pods == pods + 1 && counted.running_containers == containers + 1 &&
           starts() == before + 1;
  }));
  here.remove("web");
  CHECK(machine::wait(
      [&] { return counted.running_pods == pods && counted.running_containers == containers; }));
}

TEST_CASE("processes resolve names by the cluster's DNS, or as their dnsPolicy says", "[kubelet]") {
  const auto of_machine = text_of("/etc/resolv.conf");
  machine here;
  const auto runtime = std::make_shared<actors::process_runtime>(
      actors::process_runtime_options{.root_dir = here.root(),
                                      .jobs = actors::make_kubelet_jobs(),
                                      .program = TROUPE_BINARY_DIR "/container_shim",
                                      .hidden = {here.root().string()},
                                      .cluster = {"10.96.0.10", "cluster.local"}});
  if (!runtime->features().mounts_volumes) return skip("this machine can mount no volumes");
  if (of_machine.empty()) return skip("this machine has no resolv.conf");
  here.containers = runtime;
  here.start_kubelet();
  const std::string script = "cat /etc/resolv.conf; echo end; exec sleep 300";
  const auto resolvers = [&here](const std::string& pod) {
    REQUIRE(machine::wait([&] { return here.log(pod).ends_with("end\n"); }));
    return here.log(pod);
  };
  here.create(shell_pod("web", script));
  here.create(shell_pod("host", script, "  dnsPolicy: Default\n"));
  here.create(
      shell_pod("own", script, "  dnsPolicy: None\n  dnsConfig: {nameservers: [192.0.2.1]}\n"));
  CHECK(resolvers("web").starts_with(
      "nameserver 10.96.0.10\nsearch default.svc.cluster.local svc.cluster.local cluster.local"));
  CHECK(resolvers("host").starts_with(of_machine));
  CHECK(resolvers("own") == "nameserver 192.0.2.1\nend\n");
  CHECK(here.events("own", "NotSupported").empty());
  CHECK(text_of("/etc/resolv.conf") == of_machine);
}

TEST_CASE("the kubelet's writes to a pod carry the request of the change that caused them",
          "[kubelet]") {
  machine here;
  here.start_kubelet();
  // A pod that exists before the kubelet watches its pods arrives without a request.
  here.create(shell_pod("first", "exec sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("first"); }));
  here.request = 7;
  here.create(shell_pod("web", "exec sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("web"); }));
  here.request = 8;
  here.remove("web");
  REQUIRE(machine::wait([&] { return !here.find("web"); }));
  // Each of the two pods has changes of the client and of the kubelet, one request after another.
  std::uint64_t present = 7;
  std::map<std::uint64_t, std::size_t> changes;
  for (const auto& each : here.changes("web")) {
    INFO(each.at << " by " << each.cause.author);
    CHECK(each.cause.request >= present);
    present = std::max(present, each.cause.request);
    ++changes[each.cause.request];
  }
  CHECK(changes.size() == 2);
  CHECK(changes[7] > 1);
  CHECK(changes[8] > 1);
}

TEST_CASE("a pod past its active deadline is ended and fails", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(shell_pod("batch", "exec sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("batch"); }));
  here.change<Pod>("batch", [](Pod& pod) { pod.mutable_spec()->set_active_deadline_seconds(1); });
  REQUIRE(machine::wait([&] { return here.ended("batch"); }));
  const auto status = here.status("batch");
  CHECK(status.phase() == "Failed");
  CHECK(status.reason() == "DeadlineExceeded");
  CHECK(status.container_statuses(0).state().terminated().signal() == SIGTERM);
  CHECK(machine::wait([&] { return here.events("batch", "DeadlineExceeded").size() == 1; }));
  // It stays failed for the next kubelet.
  here.stop_kubelet();
  here.start_kubelet();
  here.create(shell_pod("other", "sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("other"); }));
  CHECK(here.status("batch").phase() == "Failed");
  CHECK(here.events("batch", "DeadlineExceeded").size() == 1);
}

TEST_CASE("a container that takes more memory than its limit is killed, and its status says why",
          "[kubelet]") {
  if (!actors::cgroup_tree::find().keeps_limits()) {
    test::skip(actors::cgroup_tree::find().about());
    return;
  }
  machine here;
  here.start_kubelet();
  here.create(shell_pod("hog", "head -c 200m /dev/zero | tail > /dev/null",
                        "    resources: {limits: {memory: 32Mi}}\n  restartPolicy: Never\n"));
  REQUIRE(machine::wait([&] { return here.ended("hog"); }));
  const auto ended = here.status("hog").container_statuses(0).state().terminated();
  CHECK(ended.reason() == "OOMKilled");
  CHECK(ended.exit_code() == 137);
  CHECK(here.events("hog", "NotSupported").empty());
}

TEST_CASE("a container waits for the config map that it refers to", "[kubelet]") {
  machine here;
  here.start_kubelet();
  const auto begun = std::chrono::steady_clock::now();
  here.create(shell_pod("web", "echo $COLOUR; sleep 300",
                        "    env:\n    - {name: COLOUR, valueFrom: {configMapKeyRef: {name: paint, "
                        "key: colour}}}\n"));
  REQUIRE(machine::wait([&] {
    const auto status = here.status("web");
    return status.container_statuses_size() == 1 &&
           status.container_statuses(0).state().waiting().reason() == "CreateContainerConfigError";
  }));
  here.create("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: paint}\ndata: {colour: blue}");
  // At once, without the back-off after a failure.
  CHECK(machine::wait([&] { return here.log("web") == "blue\n"; },
                      without_back_off(std::chrono::steady_clock::now() - begun)));
}

TEST_CASE("init containers run one after the other, and all before the others", "[kubelet]") {
  machine here;
  here.start_kubelet();
  const auto seen = (here.root().parent_path() / "seen").string();
  const auto saying = [&](const std::string& word) {
    return "\n    image: x\n    command: [sh, -c, \"echo " + word + " >> " + seen +
           "; sleep 0.2; echo " + word + " ends >> " + seen + "\"]\n";
  };
  here.create("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  restartPolicy: Never\n" +
              ("  initContainers:\n  - name: i" + saying("first") + "  - name: j") +
              saying("second") + "  containers:\n  - name: c" + saying("third"));
  REQUIRE(machine::wait([&] { return here.ended("web"); }));
  CHECK(text_of(seen) == "first\nfirst ends\nsecond\nsecond ends\nthird\nthird ends\n");
  CHECK(here.status("web").phase() == "Succeeded");
}

TEST_CASE("an init container that fails for good ends the pod before the others begin",
          "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(shell_pod("web", "echo never",
                        "  initContainers:\n  - {name: i, image: x, command: [sh, -c, 'exit 3']}\n"
                        "  restartPolicy: Never\n"));
  REQUIRE(machine::wait([&] { return here.ended("web"); }));
  const auto status = here.status("web");
  CHECK(status.phase() == "Failed");
  CHECK(status.init_container_statuses(0).state().terminated().exit_code() == 3);
  CHECK(status.container_statuses(0).state().has_waiting());
  CHECK(here.log("web").empty());
}

TEST_CASE("a worker that throws starts again, keeps its pod and disturbs no other", "[kubelet]") {
  machine here;
  const scratch_folder place;
  const auto flag = place.path() / "end";
  here.start_kubelet();
  here.create(shell_pod(
      "web", "echo once; while ! test -e " + flag.string() + "; do sleep 0.05; done; exit 3",
      "  restartPolicy: Never\n"));
  here.create(shell_pod("other", "echo once; exec sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("web") && here.runs("other"); }));
  const auto worker_of = [&](const std::string& pod) {
    runtime::actor_info found;
    here.system().actors().each([&](const runtime::actor_info& info) {
      if (info.kind == "pod-worker" && info.name.find("/" + pod + "/") != info.name.npos)
        found = info;
    });
    return found;
  };
  const auto web = here.status("web"), other = here.status("other");
  const auto worker = worker_of("web"), bystander = worker_of("other");
  REQUIRE(here.system().kill(here.system().actors().find(worker.kind, worker.name), "no idea"));
  REQUIRE(machine::wait([&] {
    const auto now = worker_of("web");
    return now.restarts == 1 && !now.backing_off;
  }));
  CHECK(worker_of("web").id == worker.id);
  CHECK_THAT(worker_of("web").last_error, Catch::Contains("no idea"));

  // Containers keep running, and a worker that did not see their start sees their end.
  CHECK(here.status("web").SerializeAsString() == web.SerializeAsString());
  std::ofstream{flag} << "now";
  REQUIRE(machine::wait([&] { return here.ended("web"); }));
  const auto after = here.status("web").container_statuses(0);
  CHECK(after.state().terminated().exit_code() == 3);
  CHECK(after.container_id() == web.container_statuses(0).container_id());
  CHECK(after.restart_count() == 0);
  CHECK(here.log("web") == "once\n");
  CHECK(machine::wait([&] { return here.events("web", "Started").size() == 1; }));
  here.remove("web");
  CHECK(machine::wait([&] { return !here.find("web"); }));

  CHECK(worker_of("other").id == bystander.id);
  CHECK(worker_of("other").restarts == 0);
  CHECK(here.status("other").SerializeAsString() == other.SerializeAsString());
  CHECK(machine::wait([&] { return here.log("other") == "once\n"; }));
  CHECK(machine::wait([&] { return here.events("other", "Started").size() == 1; }));
  CHECK(here.events("other", "Killing").empty());
}

TEST_CASE("only the node's user and group can read files below the root directory", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(shell_pod("web", "exec sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("web"); }));
  using std::filesystem::perms;
  for (const auto& place : {here.root(), here.root() / "pods"})
    CHECK(std::filesystem::status(place).permissions() == static_cast<perms>(0750));
}

TEST_CASE("a container knows its addresses from the first start", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(
      shell_pod("web", "echo $IP; sleep 300",
                "    env:\n    - {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}\n"));
  CHECK(machine::wait([&] { return here.log("web") == "127.0.0.1\n"; }));
}

TEST_CASE("a container without limits gets the machine's resources as its limits", "[kubelet]") {
  machine here;
  here.start_kubelet();
  const auto from = [](const char* resource) {
    return std::string{"valueFrom: {resourceFieldRef: {resource: limits."} + resource + "}}";
  };
  here.create(shell_pod("web", "echo $CPUS $BYTES; sleep 300",
                        "    resources: {limits: {memory: 64Mi}}\n    env:\n    - {name: CPUS, " +
                            from("cpu") + "}\n    - {name: BYTES, " + from("memory") +
                            "}\n  volumes:\n  - {name: v, downwardAPI: {items: [{path: bytes, "
                            "resourceFieldRef: {containerName: d, resource: limits.memory}}]}}\n"
                            "  initContainers: [{name: d, image: x, command: ['true']}]\n"));
  const auto facts = actors::read_node_facts();
  REQUIRE(machine::wait([&] {
    return here.log("web") == std::to_string(facts.cpus) + " " + std::to_string(64 << 20) + "\n";
  }));
  CHECK(text_of(here.pod_dir("web") / "volumes/kubernetes.io~downward-api/v/bytes") ==
        std::to_string(facts.memory_kib << 10));
}

TEST_CASE("a container with arguments alone runs them as its program", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  restartPolicy: Never\n"
      "  containers: [{name: c, image: x, args: [echo, hello]}]");
  REQUIRE(machine::wait([&] { return here.ended("web"); }));
  CHECK(here.log("web") == "hello\n");
}

TEST_CASE("a container whose image is changed is ended and started again", "[kubelet]") {
  machine here;
  here.start_kubelet();
  const auto container = [&] { return here.status("web").container_statuses(0); };
  const auto change_image = [&](const char* to) {
    here.change<Pod>("web",
                     [&](Pod& pod) { pod.mutable_spec()->mutable_containers(0)->set_image(to); });
  };
  // Independent of the restart policy.
  const char* policy = GENERATE("Always", "Never");
  here.create(shell_pod("web", "exec sleep 300", std::string{"  restartPolicy: "} + policy + "\n"));
  REQUIRE(machine::wait([&] { return here.runs("web"); }));
  CHECK(container().image() == "x");
  change_image("y");
  REQUIRE(machine::wait([&] { return here.runs("web") && container().restart_count() == 1; }));
  CHECK(container().image() == "y");
  CHECK(container().last_state().terminated().signal() == SIGTERM);
  CHECK(machine::wait([&] {
    return here.events("web", "Killing") ==
           std::vector<std::string>{"Container c definition changed, will be restarted"};
  }));
  // The next kubelet does not touch it, unless the image has changed.
  const auto written = here.find("web")->revision();
  here.stop_kubelet();
  here.start_kubelet();
  here.create(shell_pod("other", "exec sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("other"); }));
  CHECK(here.find("web")->revision() == written);
  here.stop_kubelet();
  change_image("z");
  here.start_kubelet();
  REQUIRE(machine::wait([&] { return here.runs("web") && container().restart_count() == 2; }));
  CHECK(container().image() == "z");
}

TEST_CASE("a container that waits to be restarted starts at once with another image", "[kubelet]") {
  machine here;
  here.start_kubelet();
  const auto seen = [&] { return here.status("web").container_statuses(0); };
  const auto begun = std::chrono::steady_clock::now();
  here.create(shell_pod("web", "exit 1"));
  REQUIRE(machine::wait([&] {
    return here.status("web").container_statuses_size() == 1 &&
           seen().state().waiting().reason() == "CrashLoopBackOff";
  }));
  const auto usual = std::chrono::steady_clock::now() - begun;
  const auto pod_text = "web_default(" + here.find("web")->meta().uid() + ")";
  CHECK(seen().state().waiting().message() ==
        "back-off 10s restarting failed container=c pod=" + pod_text);
  CHECK(machine::wait([&] {
    return here.events("web", "BackOff") ==
           std::vector<std::string>{"Back-off restarting failed container c in pod " + pod_text};
  }));
  const auto before = seen().restart_count();
  here.change<Pod>("web",
                   [](Pod& pod) { pod.mutable_spec()->mutable_containers(0)->set_image("y"); });
  CHECK(machine::wait([&] { return seen().restart_count() > before; }, without_back_off(usual)));
}

TEST_CASE("init containers run again after a reboot, where containers are to run after them",
          "[kubelet]") {
  machine here;
  here.boot_id = "first";
  here.start_kubelet();
  const auto seen = here.root().parent_path() / "seen";
  const auto start = [&](const std::string& policy) {
    here.create(shell_pod("web", "echo main >> " + seen.string() + "; exec sleep 300",
                          "  restartPolicy: " + policy +
                              "\n  initContainers: [{name: i, image: x, command: [sh, -c, 'echo "
                              "init >> " +
                              seen.string() + "']}]\n"));
    REQUIRE(machine::wait([&] { return here.runs("web") && text_of(seen) == "init\nmain\n"; }));
    // As at a power failure: no shim is left to write an exit.
    here.stop_kubelet();
    const auto shim =
        actors::container_dir{actors::attempt_path(here.pod_dir("web"), "c", 0)}.running()->shim;
    REQUIRE(shim.signal(SIGKILL, false));
    REQUIRE(machine::wait([&] { return !shim.alive(); }));
  };
  const auto restarted = [&] {
    return here.runs("web") && here.status("web").container_statuses(0).restart_count() == 1;
  };
  SECTION("a reboot") {
    start("Always");
    here.boot_id = "second";
    here.start_kubelet();
    REQUIRE(machine::wait(restarted));
    CHECK(machine::wait([&] { return text_of(seen) == "init\nmain\ninit\nmain\n"; }));
    CHECK(here.status("web").init_container_statuses(0).restart_count() == 1);
    const auto ended = here.status("web").container_statuses(0).last_state().terminated();
    CHECK(ended.reason() == "ContainerStatusUnknown");
    // It is written once.
    const auto written = here.find("web")->revision();
    here.stop_kubelet();
    here.start_kubelet();
    here.create(shell_pod("other", "exec sleep 300"));
    REQUIRE(machine::wait([&] { return here.runs("other"); }));
    CHECK(here.find("web")->revision() == written);
  }
  SECTION("no reboot") {
    start("Always");
    here.start_kubelet();
    REQUIRE(machine::wait(restarted));
    CHECK(machine::wait([&] { return text_of(seen) == "init\nmain\nmain\n"; }));
  }
  SECTION("nothing is to run after them") {
    start("Never");
    here.boot_id = "second";
    here.start_kubelet();
    REQUIRE(machine::wait([&] { return here.ended("web"); }));
    CHECK(here.status("web").phase() == "Failed");
    CHECK(text_of(seen) == "init\nmain\n");
  }
}

TEST_CASE("a pod with a finalizer ends, and stays until the finalizer is gone", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: kept, finalizers: [example.org/keep]}\nspec:\n"
      "  containers: [{name: c, image: x, command: [sh, -c, 'exit 0']}]\n  restartPolicy: Never\n");
  REQUIRE(machine::wait([&] { return here.ended("kept"); }));
  const auto files = here.pod_dir("kept");
  here.remove("kept", 0);
  REQUIRE(machine::wait([&] { return !std::filesystem::exists(files); }));
  REQUIRE(here.find("kept"));
  CHECK(here.status("kept").phase() == "Succeeded");
  here.change<Pod>("kept", [](Pod& pod) { pod.mutable_metadata()->clear_finalizers(); });
  CHECK(machine::wait([&] { return !here.find("kept"); }));
}

TEST_CASE("a new kubelet adopts running pods and ends those that were deleted", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(shell_pod("stays", "echo once; sleep 300"));
  here.create(shell_pod("goes", "sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("stays") && here.runs("goes"); }));
  const auto started = here.status("stays").container_statuses(0).SerializeAsString();
  const auto files = here.pod_dir("goes");
  here.stop_kubelet();
  here.remove("goes", 0);
  std::filesystem::create_directories(here.root() / "pods" / "old.deleting~7" / "volumes");
  here.start_kubelet();
  CHECK(machine::wait([&] {
    return !std::filesystem::exists(files) &&
           !std::filesystem::exists(here.root() / "pods" / "old.deleting~7");
  }));
  REQUIRE(machine::wait([&] { return here.runs("stays"); }));
  CHECK(here.status("stays").container_statuses(0).SerializeAsString() == started);
  CHECK(machine::wait([&] { return here.events("stays", "Started").size() == 1; }));
}

TEST_CASE("a directory of no pod goes with the next sweep, that of a living pod stays",
          "[kubelet]") {
  machine here;
  here.adjust = [](actors::kubelet_options& options) {
    options.orphan_sweep = std::chrono::milliseconds{50};
  };
  here.start_kubelet();
  here.create(shell_pod("web", "exec sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("web"); }));
  const auto before = here.status("web").SerializeAsString();
  // Long after the initial listing, and more than once.
  for (const char* uid : {"first", "second", "third"}) {
    const auto stray = here.root() / "pods" / uid;
    std::filesystem::create_directories(stray / "volumes" / "v");
    CHECK(machine::wait([&] { return !std::filesystem::exists(stray); }));
  }
  CHECK(std::filesystem::exists(here.pod_dir("web")));
  CHECK(here.status("web").SerializeAsString() == before);
}

TEST_CASE("a kubelet that crashes finds its workers again", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(shell_pod("web", "echo once; sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("web"); }));
  here.create(shell_pod("goes", "sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("goes"); }));
  const auto files = here.pod_dir("goes");
  here.crash_kubelet();
  here.remove("goes", 0);
  here.create(shell_pod("later", "sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("later"); }));
  CHECK(machine::wait([&] { return !std::filesystem::exists(files); }));
  here.remove("web");
  CHECK(machine::wait([&] { return !here.find("web"); }));
  CHECK(here.runs("later"));
}

TEST_CASE("a pod becomes ready again after its kubelet crashed while the node was not",
          "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(shell_pod("web", "sleep 300"));
  REQUIRE(machine::wait([&] { return here.runs("web"); }));
  const auto ready = [](auto& status, const char* holds) {
    for (auto& each : *status.mutable_conditions())
      if (each.type() == "Ready") each.set_status(holds);
  };
  here.crash_kubelet([&] {
    here.change<Node>("here", [&](Node& node) { ready(*node.mutable_status(), "Unknown"); });
  });
  here.change<Pod>("web", [&](Pod& pod) { ready(*pod.mutable_status(), "False"); });
  CHECK(machine::wait([&] {
    const auto status = here.status("web");
    return std::any_of(status.conditions().begin(), status.conditions().end(),
                       [](const auto& c) { return c.type() == "Ready" && c.status() == "True"; });
  }));
}

}  // namespace troupe::test
