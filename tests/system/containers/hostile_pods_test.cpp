// Pods that ask for more than a node gives, registries that lie, and a container runtime that comes
// late.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>

#include "build_paths.hpp"
#include "support/programs/shell.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/containers/container_machine.hpp"
#include "system/containers/image_registry.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

// Hundreds of processes share a tenth of a processor.
const char* const bomb = R"(apiVersion: v1
kind: Pod
metadata: {name: bomb}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: localhost/tools:1
    command: [sh, -c, "b() { b | b & }; b; sleep 3600"]
    resources: {limits: {memory: 512Mi, cpu: 100m}}
---
apiVersion: v1
kind: Pod
metadata: {name: neighbour}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: localhost/tools:1
    command: [sleep, "3600"]
    livenessProbe:
      exec: {command: [sh, -c, "echo >> /tmp/probes"]}
      periodSeconds: 1
      timeoutSeconds: 10
)";

// Its init container puts a link to the machine's files in place of a folder that it mounts.
const char* const linker = R"(apiVersion: v1
kind: Pod
metadata: {name: linker}
spec:
  terminationGracePeriodSeconds: 1
  automountServiceAccountToken: false
  volumes: [{name: v, emptyDir: {}}]
  initContainers:
  - name: replace
    image: localhost/tools:1
    command: [sh, -c, "rmdir /v/part && ln -s /etc /v/part"]
    volumeMounts: [{name: v, mountPath: /v}, {name: v, mountPath: /part, subPath: part}]
  containers:
  - name: main
    image: localhost/tools:1
    command: [sh, -c, "cat /part/hostname; exec sleep 3600"]
    volumeMounts: [{name: v, mountPath: /part, subPath: part}]
)";

const char* const refused = R"(apiVersion: v1
kind: Pod
metadata: {name: kernel}
spec:
  securityContext: {sysctls: [{name: net.core.somaxconn, value: "1024"}]}
  containers: [{name: main, image: localhost/tools:1}]
---
apiVersion: v1
kind: Pod
metadata: {name: strict}
spec:
  securityContext: {supplementalGroupsPolicy: Strict}
  containers: [{name: main, image: localhost/tools:1}]
---
apiVersion: v1
kind: Pod
metadata: {name: absent}
spec:
  containers: [{name: main, image: "localhost/absent:1", imagePullPolicy: Never}]
---
apiVersion: v1
kind: Pod
metadata: {name: disk}
spec:
  containers:
  - name: main
    image: localhost/tools:1
    command: [sleep, "3600"]
    resources: {requests: {ephemeral-storage: 1Mi}}
)";

// It fills the disk of the containers.
const char* const filler = R"(apiVersion: v1
kind: Pod
metadata: {name: filler}
spec:
  terminationGracePeriodSeconds: 1
  automountServiceAccountToken: false
  containers:
  - name: main
    image: localhost/tools:1
    command: [sh, -c, "head -c 1000000000 /dev/zero > /fill; echo full; exec sleep 3600"]
)";

std::string pod_of_image(const std::string& name, const std::string& image) {
  return fmt::format(R"(---
apiVersion: v1
kind: Pod
metadata: {{name: {}}}
spec:
  terminationGracePeriodSeconds: 1
  automountServiceAccountToken: false
  containers: [{{name: main, image: "{}", command: [sleep, "3600"]}}]
)",
                     name, image);
}

std::string waiting_reason(const std::string& pod) {
  return "kubectl get pod " + pod +
         " -o jsonpath='{.status.containerStatuses[0].state.waiting.reason}'";
}

std::string field(const std::string& of, const std::string& path) {
  return "kubectl get " + of + " -o jsonpath='{" + path + "}'";
}

}  // namespace

TEST_CASE("a fork bomb has a limit, hurts no other pod, and ends with its own", "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.10.0/24"};
  write_file(on.home() / "bomb.yaml", bomb);
  REQUIRE(on.run("kubectl create -f bomb.yaml").code == 0);
  REQUIRE(on.until(field("pod bomb", ".status.phase"), "Running") == "Running");
  const auto uid = on.run(field("pod bomb", ".metadata.uid")).output;
  const auto group = fmt::format(
      "cat /sys/fs/cgroup/pids/kubepods/pod{0}/$1 /sys/fs/cgroup/kubepods/pod{0}/$1", uid);
  const auto value = [&](const std::string& file) {
    return fmt::format("sh -c '{} 2>/dev/null' x {}", group, file);
  };
  CHECK(on.run(value("pids.max")).output == "4096\n");
  CHECK(on.until(fmt::format("test $({}) -gt 300 && echo many", value("pids.current")), "many\n") ==
        "many\n");
  CHECK(on.run("kubectl exec neighbour -- sh -c ': > /tmp/probes'").code == 0);
  const std::string five = "kubectl exec neighbour -- sh -c 'tail -n 5 /tmp/probes | wc -l'";
  CHECK(on.until(five, "5\n") == "5\n");
  CHECK(on.run(field("pod neighbour", ".status.containerStatuses[0].restartCount")).output == "0");
  CHECK(on.run("kubectl delete pod bomb neighbour --timeout=150s").code == 0);
  CHECK(on.runtime.ctr("containers ls -q") == "");
}

TEST_CASE("a subPath that a container replaced by a link shows no files of the machine",
          "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.24.0/24"};
  write_file(on.home() / "linker.yaml", linker);
  REQUIRE(on.run("kubectl create -f linker.yaml").code == 0);
  CHECK(on.until(waiting_reason("linker"), "CreateContainerConfigError") ==
        "CreateContainerConfigError");
  CHECK(on.run(field("pod linker", ".status.initContainerStatuses[0].state.terminated.exitCode"))
            .output == "0");
  CHECK(on.run("kubectl delete pod linker").code == 0);
}

TEST_CASE("pods that have finished hold no address, and keep their logs", "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.12.0/24"};
  REQUIRE(on.run("kubectl run once --image=localhost/tools:1 --restart=Never "
                 "--image-pull-policy=Never -- sh -c 'echo done'")
              .code == 0);
  CHECK(on.until(field("pod once", ".status.phase"), "Succeeded") == "Succeeded");
  const auto held = fmt::format("ls {}/ipam/test | grep -c '^10'", on.runtime.folder().string());
  CHECK(on.until(held, "0\n") == "0\n");
  CHECK(on.run("kubectl logs once").output == "done\n");
  const auto ip = on.run(field("pod once", ".status.podIP")).output;
  CHECK(ip.starts_with("10.213.12."));
  on.kill();
  on.start();
  CHECK(on.until("kubectl logs once", "done\n") == "done\n");
  CHECK(on.run(field("pod once", ".status.podIP")).output == ip);
  CHECK(on.run("kubectl delete pod once").code == 0);
}

TEST_CASE("a pod that the node cannot run as it asks is rejected, and says why", "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.11.0/24"};
  write_file(on.home() / "refused.yaml", refused);
  REQUIRE(on.run("kubectl create -f refused.yaml").code == 0);
  CHECK(on.until(field("pod kernel", ".status.phase} {.status.reason"), "Failed SysctlForbidden") ==
        "Failed SysctlForbidden");
  CHECK(on.until(field("pod strict", ".status.reason"), "SupplementalGroupsPolicyNotSupported") ==
        "SupplementalGroupsPolicyNotSupported");
  CHECK(on.until("kubectl get events --field-selector involvedObject.name=absent "
                 "-o jsonpath='{.items[*].reason}' | grep -c ErrImageNeverPull",
                 "1\n") == "1\n");
  CHECK(on.until(
            field("nodes", ".items[0].status.images[*].names[*]") + " | grep -c localhost/tools:1",
            "1\n") == "1\n");
  // The node counts its disk.
  CHECK(on.until(field("pod disk", ".status.phase"), "Running") == "Running");

  // A runtime that comes after the node is known by its name.
  on.kill();
  on.runtime.kill();
  on.start();
  const auto is_ready = field("nodes", ".items[0].status.conditions[?(@.type==\"Ready\")].status");
  REQUIRE(on.until(is_ready, "False") == "False");
  on.runtime.start();
  REQUIRE(on.until(is_ready, "True") == "True");
  const auto version = field("nodes", ".items[0].status.nodeInfo.containerRuntimeVersion");
  CHECK(on.until(version + " | grep -c containerd://1", "1\n") == "1\n");
  CHECK(on.run("kubectl delete pods --all --grace-period=1").code == 0);
}

TEST_CASE("an image of a registry that lies about it does not run, others do", "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.20.0/24"};
  image_registry registry{folder.path() / "registry"};
  registry.replace_all(on.runtime.folder());
  using truth = image_registry::truth;
  const std::map<std::string, truth> registered{{"honest", truth::honest},
                                                {"layer", truth::other_layer},
                                                {"length", truth::longer_layer},
                                                {"manifest", truth::other_manifest}};
  std::string pods;
  for (const auto& [name, how] : registered) {
    // A layer that the runtime has already is not pulled: each has its own.
    const auto root = (on.runtime.folder() / ("root-" + name)).string();
    const auto made = shell(fmt::format(
        "cp -a {0}/tools {1} && echo {2} > {1}/name && {3}/tests/system/containers/make-image "
        "registry.test/{2}:1 {1} '{{\"Cmd\":[\"sh\"],\"Env\":[\"PATH=/bin\"]}}' {1}.tar 2>&1",
        on.runtime.folder().string(), root, name, TROUPE_SOURCE_DIR));
    INFO(made.output);
    REQUIRE(made.code == 0);
    registry.add(name, root + ".tar", how);
    pods += pod_of_image(name, "registry.test/" + name + ":1");
  }
  write_file(on.home() / "pods.yaml", pods);
  REQUIRE(on.run("kubectl create -f pods.yaml").code == 0);
  CHECK(on.until(field("pod honest", ".status.phase"), "Running") == "Running");
  for (const auto& [name, how] : registered) {
    if (how == truth::honest) continue;
    CAPTURE(name);
    CHECK(on.until("kubectl get events --field-selector involvedObject.name=" + name +
                       " -o jsonpath='{.items[*].message}' | grep -c 'Failed to pull image'",
                   "1\n") == "1\n");
    CHECK(on.until(waiting_reason(name) + " | grep -c -e ErrImagePull -e ImagePullBackOff",
                   "1\n") == "1\n");
    CHECK(on.runtime.ctr("images ls -q").find("registry.test/" + name) == std::string::npos);
  }
  CHECK(on.run("kubectl delete pods --all").code == 0);
}

TEST_CASE("a huge environment and image names that are none fail alone", "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.21.0/24"};
  // Longer than the kernel accepts (MAX_ARG_STRLEN, 128 KiB).
  const auto huge = fmt::format(R"(apiVersion: v1
kind: Pod
metadata: {{name: huge}}
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  containers:
  - name: main
    image: localhost/tools:1
    command: [sleep, "3600"]
    env: [{{name: HUGE, value: "{}"}}]
)",
                                std::string(200'000, 'x'));
  write_file(on.home() / "pods.yaml", huge + pod_of_image("upward", "localhost/../../tools:1") +
                                          pod_of_image("colored", R"(localhost/tools:1\x1b[31m)") +
                                          pod_of_image("option", "-n") +
                                          pod_of_image("command", "localhost/tools:1;reboot") +
                                          pod_of_image("usual", "localhost/tools:1"));
  REQUIRE(on.run("kubectl create -f pods.yaml").code == 0);
  CHECK(on.until(field("pod usual", ".status.phase"), "Running") == "Running");
  for (const std::string name : {"upward", "colored", "option", "command"}) {
    CAPTURE(name);
    CHECK(on.until(waiting_reason(name), "InvalidImageName") == "InvalidImageName");
  }
  CHECK(on.until(field("pod huge", ".status.phase"), "Failed") == "Failed");
  CHECK(on.run("kubectl delete pods --all").code == 0);
  CHECK(on.runtime.ctr("containers ls -q") == "");
}

TEST_CASE("while the disk of containers is full no pod starts, and afterwards it does",
          "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  const auto disk = (folder.path() / "containerd/root").string();
  container_machine on{
      folder.path(),
      "10.213.22.0/24",
      {"unshare", "-m", "--propagation", "slave", "sh", "-c",
       "mkdir -p " + disk + " && mount -t tmpfs -o size=64m none " + disk + " && exec \"$@\"",
       "sh"}};
  write_file(on.home() / "filler.yaml", filler);
  REQUIRE(on.run("kubectl create -f filler.yaml").code == 0);
  const std::string full = "kubectl logs filler | grep -o '^full'";
  REQUIRE(on.until(full, "full\n") == "full\n");
  write_file(on.home() / "late.yaml", pod_of_image("late", "localhost/tools:1"));
  REQUIRE(on.run("kubectl create -f late.yaml").code == 0);
  CHECK(
      on.until("kubectl get events --field-selector involvedObject.name=late "
               "-o jsonpath='{.items[*].message}' | grep -o 'no space left on device' | head -n 1",
               "no space left on device\n") == "no space left on device\n");
  CHECK(on.run(field("pod late", ".status.phase")).output == "Pending");
  CHECK(on.run(field("nodes", ".items[0].status.conditions[?(@.type==\"Ready\")].status")).output ==
        "True");
  const auto freed = on.run("kubectl exec filler -- rm /fill");
  INFO(freed.output);
  CHECK(freed.code == 0);
  CHECK(on.until(field("pod late", ".status.phase"), "Running") == "Running");
  CHECK(on.run("kubectl delete pods --all").code == 0);
  CHECK(on.runtime.ctr("containers ls -q") == "");
}
