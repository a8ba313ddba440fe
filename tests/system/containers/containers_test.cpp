// Pods as containers of containerd, from the image to kubectl: with a containerd of the test's own.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "build_paths.hpp"
#include "support/programs/shell.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/containers/container_machine.hpp"
#include "system/transcript_player.hpp"

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

TEST_CASE("the oldest and the newest kubectl reach containers by every stream", "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const auto all = kubectls();
  if (all.empty()) return skip("no kubectl is installed");
  const scratch_folder folder;
  const private_containerd runtime{folder.path() / "containerd", "10.213.17.0/24"};
  for (const bool oldest : {true, false}) {
    const auto problem = play_transcript(
        oldest ? all.front() : all.back(),
        TROUPE_SOURCE_DIR "/tests/system/containers/transcripts/streams.transcript",
        folder.path() / (oldest ? "oldest" : "newest"), {"--cri-endpoint", runtime.endpoint()});
    CHECK(problem == "");
  }
  CHECK(runtime.ctr("containers ls -q") == "");
}

TEST_CASE("the images of a machine are imported, listed and removed", "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  const private_containerd runtime{folder.path() / "containerd", ""};
  const auto image = [&](const std::string& words) {
    return shell(fmt::format("{}/troupe image {} --cri-endpoint {} 2>&1", TROUPE_BINARY_DIR, words,
                             runtime.endpoint()));
  };
  const auto lists = [&] {
    return image("list").output.find("example.test/own:1") != std::string::npos;
  };
  const auto archive = folder.path() / "own.tar";
  const auto made = shell(
      fmt::format("{}/tests/system/containers/make-image example.test/own:1 {} "
                  "'{{\"Cmd\":[\"/bin/sh\"]}}' {} 2>&1",
                  TROUPE_SOURCE_DIR, (runtime.folder() / "tools").string(), archive.string()));
  INFO(made.output);
  REQUIRE(made.code == 0);
  CHECK_FALSE(lists());
  CHECK(image("import " + archive.string()).code == 0);
  CHECK(lists());
  CHECK(image("remove example.test/own:1").code == 0);
  CHECK_FALSE(lists());
  write_file(folder.path() / "none.tar", "this is no archive");
  CHECK(image("import " + (folder.path() / "none.tar").string()).code != 0);
  CHECK(image("import " + (folder.path() / "absent.tar").string()).code != 0);
  CHECK_THAT(image("list").output, Catch::Contains("localhost/tools:1"));
}
