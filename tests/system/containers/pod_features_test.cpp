// Effects of a pod's spec on containers, beyond image and command, seen from inside: with a
// containerd of the test's own.
#include <algorithm>
#include <catch2/catch.hpp>

#include "etcd/etcd_server.hpp"
#include "support/programs/shell.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/containers/container_machine.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

const char* const web = R"(apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 5
  hostname: front
  subdomain: team
  hostAliases: [{ip: 1.2.3.4, hostnames: [far, away]}]
  securityContext:
    runAsUser: 1000
    runAsGroup: 1001
    fsGroup: 2000
    supplementalGroups: [3000]
    sysctls: [{name: net.ipv4.ip_unprivileged_port_start, value: "80"}]
  volumes: [{name: v, emptyDir: {}}]
  initContainers:
  - name: setup
    image: localhost/tools:1
    command: [sh, -c, "mkdir /v/deep; echo made > /v/deep/file"]
    volumeMounts: [{name: v, mountPath: /v}]
  - name: side
    image: localhost/tools:1
    restartPolicy: Always
    command: [sh, -c, "trap 'exit 0' TERM; sleep 1; touch /v/side; while :; do sleep 0.1; done"]
    startupProbe: {exec: {command: [test, -e, /v/side]}, periodSeconds: 1}
    volumeMounts: [{name: v, mountPath: /v}]
  containers:
  - name: main
    image: localhost/tools:1
    command:
    - sh
    - -c
    - ls /v/side; id -u; id -g; id -G; cat /deep/file /proc/sys/net/ipv4/ip_unprivileged_port_start;
      trap 'exit 0' TERM; while :; do sleep 0.1; done
    lifecycle: {postStart: {exec: {command: [touch, /v/hook]}}}
    volumeMounts: [{name: v, mountPath: /v}, {name: v, mountPath: /deep, subPath: deep}]
)";

// A change of its memory restarts it, a change of its cpu does not.
const char* const sized = R"(apiVersion: v1
kind: Pod
metadata: {name: sized}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: localhost/tools:1
    command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 0.1; done"]
    resizePolicy: [{resourceName: memory, restartPolicy: RestartContainer}]
    resources: {requests: {cpu: 100m, memory: 32Mi}, limits: {cpu: 200m, memory: 64Mi}}
)";

// It writes into its own file system.
const char* const greedy = R"(apiVersion: v1
kind: Pod
metadata: {name: greedy}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: localhost/tools:1
    command: [sh, -c, "head -c 3000000 /dev/zero > /file; exec sleep 300"]
    resources: {limits: {ephemeral-storage: 1Mi}}
  - name: side
    image: localhost/tools:1
    command: [sleep, "300"]
    resources: {limits: {ephemeral-storage: 1Gi}}
)";

// etcd of the machine, which serves grpc.health.v1 without authentication.
const char* const health = R"(apiVersion: v1
kind: Pod
metadata: {name: health}
spec:
  terminationGracePeriodSeconds: 1
  volumes:
  - {name: usr, hostPath: {path: /usr}}
  - {name: lib, hostPath: {path: /lib}}
  - {name: lib64, hostPath: {path: /lib64}}
  containers:
  - name: main
    image: localhost/tools:1
    command: [/usr/bin/etcd, --data-dir, /tmp/etcd, --listen-client-urls, "http://0.0.0.0:2379",
      --advertise-client-urls, "http://127.0.0.1:2379", --listen-peer-urls, "http://127.0.0.1:2380"]
    volumeMounts:
    - {name: usr, mountPath: /usr, readOnly: true}
    - {name: lib, mountPath: /lib, readOnly: true}
    - {name: lib64, mountPath: /lib64, readOnly: true}
    readinessProbe: {grpc: {port: 2379}, periodSeconds: 1}
  - name: other
    image: localhost/tools:1
    command: [sleep, "300"]
    readinessProbe: {grpc: {port: 2379, service: other}, periodSeconds: 1}
)";

// Pods that end.
const char* const ends = R"(apiVersion: v1
kind: Pod
metadata: {name: hog}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: localhost/tools:1
    command: [sh, -c, "exec tail /dev/zero"]
    resources: {limits: {memory: 32Mi}}
---
apiVersion: v1
kind: Pod
metadata: {name: failed}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: localhost/tools:1
    command: [sh, -c, "echo the reason; exit 3"]
    terminationMessagePolicy: FallbackToLogsOnError
---
apiVersion: v1
kind: Pod
metadata: {name: rooted}
spec:
  containers:
  - name: main
    image: localhost/tools:1
    securityContext: {runAsNonRoot: true}
    command: [sleep, "300"]
)";

// As little as a pod can be allowed; {} is a folder of the machine.
const char* const sealed = R"(apiVersion: v1
kind: Pod
metadata: {{name: sealed}}
spec:
  shareProcessNamespace: true
  dnsPolicy: None
  dnsConfig:
    nameservers: [192.0.2.53]
    searches: [team.example]
    options: [{{name: ndots, value: "3"}}]
  securityContext: {{seccompProfile: {{type: RuntimeDefault}}}}
  volumes: [{{name: mark, hostPath: {{path: "{}"}}}}]
  containers:
  - name: main
    image: localhost/tools:1
    securityContext:
      capabilities: {{drop: [ALL], add: [NET_BIND_SERVICE]}}
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
    command:
    - sh
    - -c
    - grep -e CapEff -e NoNewPrivs -e 'Seccomp:' /proc/self/status; touch /file 2>&1; cat /etc/resolv.conf;
      until ps -o args | grep '^sleep 100078'; do sleep 0.1; done; exec sleep 100000
    lifecycle: {{preStop: {{exec: {{command: [touch, /mark/stopped]}}}}}}
    volumeMounts: [{{name: mark, mountPath: /mark}}]
  - name: neighbour
    image: localhost/tools:1
    command: [sleep, "100078"]
)";

// Nothing is kept from it.
const char* const open_pod = R"(apiVersion: v1
kind: Pod
metadata: {name: open}
spec:
  restartPolicy: Never
  hostPID: true
  hostIPC: true
  hostNetwork: true
  containers:
  - name: main
    image: localhost/tools:1
    securityContext: {privileged: true}
    command:
    - sh
    - -c
    - grep -e CapEff -e NoNewPrivs -e 'Seccomp:' /proc/self/status;
      for each in pid ipc net mnt; do readlink /proc/self/ns/$each; done
)";

std::string field_of(const std::string& pod, const std::string& path) {
  return "kubectl get pod " + pod + " -o jsonpath='{" + path + "}'";
}

}  // namespace

TEST_CASE("a pod has the users, names, files and sidecars that its spec asks for", "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.5.0/24"};
  write_file(on.home() / "web.yaml", web);
  const auto created = std::chrono::steady_clock::now();
  REQUIRE(on.run("kubectl create -f web.yaml").code == 0);
  const auto ready = field_of("web", ".status.conditions[?(@.type==\"Ready\")].status");
  REQUIRE(on.until(ready, "True") == "True");
  const auto start = std::chrono::steady_clock::now() - created;
  const std::string printed = "/v/side\n1000\n1001\n1001 2000 3000\nmade\n80\n";
  CHECK(on.until("kubectl logs web -c main", printed) == printed);
  CHECK(on.run("kubectl exec web -c main -- ls /v").output == "deep\nhook\nside\n");
  CHECK(on.run("kubectl exec web -c main -- hostname").output == "front\n");
  const auto hosts = on.run("kubectl exec web -c side -- cat /etc/hosts").output;
  CHECK_THAT(hosts, Catch::Contains("\tfront.team.default.svc.cluster.local\tfront\n"));
  CHECK_THAT(hosts, Catch::EndsWith("1.2.3.4\tfar\taway\n"));
  const auto side = ".status.initContainerStatuses[1]";
  CHECK(on.until(field_of("web", fmt::format("{}.ready}} {{{}.started", side, side)),
                 "true true") == "true true");

  // Only a sidecar that ended is restarted. The command may be killed with it (137).
  const auto killed = on.run("kubectl exec web -c side -- kill 1").code;
  CHECK((killed == 0 || killed == 137));
  const auto restarts = field_of("web", std::string{side} + ".restartCount");
  CHECK(on.until(restarts, "1") == "1");
  CHECK(on.until(ready, "True") == "True");
  CHECK(on.run(field_of("web", ".status.containerStatuses[0].restartCount")).output == "0");

  // A debug container sees the processes of its target.
  CHECK(on.run("kubectl debug web --image=localhost/tools:1 --target=main -c seer "
               "-- sh -c 'ps; sleep 300'")
            .code == 0);
  CHECK(on.until(field_of("web", ".status.ephemeralContainerStatuses[0].state.running") +
                     " | grep -c startedAt",
                 "1\n") == "1\n");
  CHECK(on.until("kubectl logs web -c seer | grep -c 'ls /v/side'", "1\n") == "1\n");
  CHECK(on.run("kubectl exec web -c seer -- hostname").output == "front\n");

  const auto before = std::chrono::steady_clock::now();
  CHECK(on.run("kubectl delete pod web").code == 0);
  // On a slow machine its start took as much longer.
  CHECK(std::chrono::steady_clock::now() - before <
        std::max<std::chrono::nanoseconds>(std::chrono::seconds{15}, 2 * start));
  CHECK(on.runtime.ctr("containers ls -q") == "");
}

TEST_CASE("a container has the rights, namespaces and resolver that its pod asks for, and no more",
          "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.23.0/24"};
  const auto mark = on.home() / "mark";
  std::filesystem::create_directory(mark);
  write_file(on.home() / "pods.yaml",
             fmt::format(fmt::runtime(sealed), mark.string()) + "---\n" + open_pod);
  REQUIRE(on.run("kubectl create -f pods.yaml").code == 0);
  const std::string of_sealed =
      "CapEff:\t0000000000000400\nNoNewPrivs:\t1\nSeccomp:\t2\n"
      "touch: /file: Read-only file system\n"
      "search team.example\nnameserver 192.0.2.53\noptions ndots:3\nsleep 100078\n";
  CHECK(on.until("kubectl logs sealed -c main", of_sealed) == of_sealed);
  // Of the test itself, since the runtime may have fewer capabilities than there are.
  const auto of_machine = shell(
                              "grep -e CapEff -e NoNewPrivs -e Seccomp: /proc/self/status; "
                              "for each in pid ipc net; do readlink /proc/self/ns/$each; done")
                              .output;
  CHECK(on.until("kubectl logs open | head -n 6", of_machine) == of_machine);
  const auto files = on.run("kubectl logs open | tail -n 1").output;
  CHECK(files.starts_with("mnt:"));
  CHECK(files != shell("readlink /proc/self/ns/mnt").output);
  CHECK_FALSE(std::filesystem::exists(mark / "stopped"));
  CHECK(on.run("kubectl delete pod sealed open --grace-period=5").code == 0);
  CHECK(std::filesystem::exists(mark / "stopped"));
}

TEST_CASE("a container's status shows how it ended, or why it does not start", "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.6.0/24"};
  write_file(on.home() / "ends.yaml", ends);
  REQUIRE(on.run("kubectl create -f ends.yaml").code == 0);
  const std::string ended = ".status.containerStatuses[0].state.terminated";
  CHECK(on.until(field_of("hog", ended + ".reason"), "OOMKilled") == "OOMKilled");
  CHECK(on.run(field_of("hog", ended + ".exitCode")).output == "137");
  const auto uid = on.run(field_of("hog", ".metadata.uid")).output;
  const auto limit = fmt::format("memory/kubepods/burstable/pod{}/memory.limit_in_bytes", uid);
  if (std::filesystem::exists("/sys/fs/cgroup/memory/cgroup.procs"))
    CHECK(on.run("cat /sys/fs/cgroup/" + limit).output == "33554432\n");
  CHECK(on.until(field_of("failed", ended + ".message"), "the reason\n") == "the reason\n");
  CHECK(on.run(field_of("failed", ended + ".exitCode")).output == "3");
  const std::string waits = ".status.containerStatuses[0].state.waiting";
  CHECK(on.until(field_of("rooted", waits + ".reason"), "CreateContainerConfigError") ==
        "CreateContainerConfigError");
  CHECK_THAT(on.run(field_of("rooted", waits + ".message")).output,
             Catch::StartsWith("container has runAsNonRoot and image will run as root"));
  CHECK(on.run("kubectl delete pod --all --grace-period=1").code == 0);
}

TEST_CASE("a container gets other processors while it runs, and memory by a restart",
          "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.12.0/24"};
  write_file(on.home() / "sized.yaml", sized);
  REQUIRE(on.run("kubectl create -f sized.yaml").code == 0);
  const auto state = field_of(
      "sized",
      ".status.containerStatuses[0].restartCount} {.status.containerStatuses[0].resources.limits} "
      "{.status.conditions[?(@.type==\"PodResizeInProgress\")].status");
  REQUIRE(on.until(state, R"(0 {"cpu":"200m","memory":"64Mi"} )") ==
          R"(0 {"cpu":"200m","memory":"64Mi"} )");
  const auto resize = [&](const std::string& limits) {
    return on.run(
        "kubectl patch pod sized --subresource resize -p '{\"spec\":{\"containers\":[{"
        "\"name\":\"main\",\"resources\":{\"limits\":{" +
        limits + "}}}]}}'");
  };
  const auto patched = resize(R"("cpu":"500m")");
  INFO(patched.output);
  REQUIRE(patched.code == 0);
  const std::string quota =
      "kubectl exec sized -- sh -c 'cut -d\" \" -f1 /sys/fs/cgroup/cpu.max 2>/dev/null || "
      "cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us'";
  CHECK(on.until(quota, "50000\n") == "50000\n");
  CHECK(on.until(state, R"(0 {"cpu":"500m","memory":"64Mi"} )") ==
        R"(0 {"cpu":"500m","memory":"64Mi"} )");

  REQUIRE(resize(R"("memory":"48Mi")").code == 0);
  CHECK(on.until(state, R"(1 {"cpu":"500m","memory":"48Mi"} )") ==
        R"(1 {"cpu":"500m","memory":"48Mi"} )");
  const std::string memory =
      "kubectl exec sized -- sh -c 'cat /sys/fs/cgroup/memory.max 2>/dev/null || "
      "cat /sys/fs/cgroup/memory/memory.limit_in_bytes'";
  CHECK(on.until(memory, "50331648\n") == "50331648\n");
  CHECK(on.run(quota).output == "50000\n");
  CHECK(on.run("kubectl delete pod sized").code == 0);
}

TEST_CASE("a container that writes more than its limit into its own file system is evicted",
          "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.14.0/24"};
  write_file(on.home() / "greedy.yaml", greedy);
  REQUIRE(on.run("kubectl create -f greedy.yaml").code == 0);
  const auto status = field_of("greedy", ".status.phase} {.status.reason} {.status.message");
  const std::string evicted =
      "Failed Evicted Container main exceeded its local ephemeral storage limit \"1Mi\". ";
  CHECK(on.until(status, evicted) == evicted);
  CHECK(on.until("kubectl get events --field-selector reason=Evicted "
                 "-o jsonpath='{.items[*].involvedObject.name}'",
                 "greedy") == "greedy");
  CHECK(on.run("kubectl delete pod greedy").code == 0);
}

TEST_CASE("a probe by gRPC asks the health service of the server in the container",
          "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  if (const auto lacks = etcd_server::missing(); !lacks.empty()) return skip(lacks);
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.16.0/24"};
  write_file(on.home() / "health.yaml", health);
  REQUIRE(on.run("kubectl create -f health.yaml").code == 0);
  const auto ready = field_of("health", ".status.containerStatuses[?(@.name==\"main\")].ready");
  INFO(on.run("kubectl logs health -c main | tail").output);
  CHECK(on.until(ready, "true") == "true");
  const std::string unknown =
      "kubectl get events --field-selector reason=Unhealthy -o jsonpath='{.items[*].message}' | "
      "grep -o 'Readiness probe failed: error: health rpc probe failed: unknown service' | head -1";
  const std::string failed =
      "Readiness probe failed: error: health rpc probe failed: unknown service\n";
  CHECK(on.until(unknown, failed) == failed);
  CHECK(on.run("kubectl delete pod health").code == 0);
}
