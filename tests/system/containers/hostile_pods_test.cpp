// Pods that ask for more than a node gives, and a container runtime that comes late.
#include <catch2/catch.hpp>

#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/containers/container_machine.hpp"

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

std::string field(const std::string& of, const std::string& path) {
  return "kubectl get " + of + " -o jsonpath='{" + path + "}'";
}

}  // namespace

TEST_CASE("a fork bomb has a limit, and ends with its pod", "[containers]") {
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
  CHECK(on.run("kubectl delete pod bomb --timeout=150s").code == 0);
  CHECK(on.runtime.ctr("containers ls -q") == "");
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
