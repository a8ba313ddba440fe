// Pods as containers of containerd, from the image to kubectl: with a containerd of the test's own.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/containers/container_machine.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

const char* const web = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: localhost/tools:1
        imagePullPolicy: Never
        command: [sh, -c, "echo hello from $(hostname); echo it works > index.html; httpd -f -p 8080"]
        workingDir: /tmp
        readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}
        resources: {limits: {memory: 32Mi, cpu: 200m}}
)";

const std::string ready = "kubectl get deployment web -o jsonpath={.status.readyReplicas}";
const std::string ids =
    "kubectl get pods -o jsonpath='{range .items[*]}{.status.containerStatuses[0].containerID} "
    "{.status.containerStatuses[0].restartCount}{\"\\n\"}{end}' | sort";

}  // namespace

TEST_CASE("a deployment runs as containers that answer, are entered, outlive kills, and go",
          "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.1.0/24"};
  write_file(on.home() / "web.yaml", web);
  REQUIRE(on.run("kubectl create -f web.yaml").code == 0);
  REQUIRE(on.until(ready, "2") == "2");

  const auto name = on.run("kubectl get pods -o jsonpath={.items[0].metadata.name}").output;
  const auto ip = on.run("kubectl get pods -o jsonpath={.items[0].status.podIP}").output;
  CHECK(ip.starts_with("10.213.1."));
  CHECK(on.run("kubectl logs " + name).output == fmt::format("hello from {}\n", name));
  CHECK(on.run(fmt::format("kubectl exec {} -- cat /etc/hostname", name)).output == name + "\n");
  CHECK(on.run(fmt::format("kubectl exec {} -- grep {} /etc/hosts", name, ip)).output ==
        fmt::format("{}\t{}\n", ip, name));
  CHECK(on.run(fmt::format("echo to the end | kubectl exec -i {} -- cat", name)).output ==
        "to the end\n");
  CHECK(on.run(fmt::format("kubectl exec {} -- sh -c 'exit 6'", name)).code == 6);
  CHECK(on.run(fmt::format("curl -s http://{}:8080/", ip)).output == "it works\n");
  CHECK(
      on.run(fmt::format("kubectl get --raw /api/v1/namespaces/default/pods/{}:8080/proxy/", name))
          .output == "it works\n");

  const auto before = on.run(ids).output;
  on.kill();
  on.start();
  CHECK(on.until(ready, "2") == "2");
  CHECK(on.run(ids).output == before);
  on.runtime.kill();
  on.runtime.start();
  CHECK(on.until(fmt::format("kubectl exec {} -- echo again", name), "again\n") == "again\n");
  CHECK(on.run(ids).output == before);
  CHECK(on.run("kubectl logs " + name).output == fmt::format("hello from {}\n", name));

  CHECK(on.run("kubectl delete deployment web").code == 0);
  CHECK(on.until("kubectl get pods -o name", "") == "");
  CHECK(on.runtime.ctr("containers ls -q") == "");
}
