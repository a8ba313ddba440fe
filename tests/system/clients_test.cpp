// Client libraries of others, with programs as their authors would write them (tests/clients/).
#include <catch2/catch.hpp>
#include <filesystem>
#include <optional>

#include "build_paths.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/node.hpp"
#include "system/shell.hpp"

using namespace troupe::test;

TEST_CASE(
    "Debian's client for Python lists, watches, defines kinds, runs a controller and elects") {
  const scratch_folder folder;
  const auto there = shell("/usr/bin/python3 -c 'import kubernetes' 2>&1");
  if (there.code != 0) return skip("python3-kubernetes is not installed");
  const node served{folder.path() / "node", {"--runtime", "simulated", "--simulated-nodes", "1"}};
  const auto ran = shell("timeout 60 " TROUPE_SOURCE_DIR "/tests/clients/controller.py " +
                         served.kubeconfig().string() + " 2>&1");
  INFO(ran.output);
  CHECK(ran.code == 0);
  for (const auto* part :
       {"pods: ", "custom resources: ", "controller: ", "leader election: elected"})
    CHECK_THAT(ran.output, Catch::Contains(part));
}

namespace {

// A pod that answers HTTP at a port that is free; empty where none comes.
struct web_pod {
  std::string name = "web";
  std::string port;
};

std::optional<web_pod> start_web_pod(const node& on) {
  const auto create = shell(
      "kubectl --kubeconfig " + on.kubeconfig().string() + " create -f - 2>&1 <<'END'\n" +
      read_file(std::filesystem::path{TROUPE_SOURCE_DIR} / "tests/clients/web_pod.yaml") + "END");
  INFO(create.output);
  if (create.code != 0) return std::nullopt;
  const auto log = shell("timeout 20 kubectl --kubeconfig " + on.kubeconfig().string() +
                         " wait --for=condition=Ready pod/web >/dev/null; timeout 20 kubectl "
                         "--kubeconfig " +
                         on.kubeconfig().string() + " logs -f web | grep -m 1 port");
  INFO(log.output);
  const auto at = log.output.find("port ");
  if (at == std::string::npos) return std::nullopt;
  web_pod made;
  made.port =
      log.output.substr(at + 5, log.output.find_first_not_of("0123456789", at + 5) - at - 5);
  return made;
}

// The packages of a client for Node.js, kept beside the build; empty: they could not be had.
std::string node_packages() {
  const auto folder = std::filesystem::path{TROUPE_BINARY_DIR} / "../clients-node";
  const auto got =
      shell("mkdir -p " + folder.string() + " && cd " + folder.string() + " && cp " +
            TROUPE_SOURCE_DIR + "/tests/clients/node/* . && { [ -d node_modules ] || " +
            "timeout 120 npm install --no-package-lock --no-audit --no-fund " +
            "--ignore-scripts >/dev/null 2>&1; }");
  return got.code == 0 ? folder.string() : std::string{};
}

}  // namespace

TEST_CASE("Debian's client for Python runs commands in a pod and forwards its port") {
  const scratch_folder folder;
  if (shell("/usr/bin/python3 -c 'import kubernetes' 2>&1").code != 0)
    return skip("python3-kubernetes is not installed");
  const node served{folder.path() / "node", {"--runtime", "process"}};
  const auto pod = start_web_pod(served);
  REQUIRE(pod);
  const auto ran =
      shell("timeout 60 " TROUPE_SOURCE_DIR "/tests/clients/streams.py " +
            served.kubeconfig().string() + " " + pod->name + " " + pod->port + " 2>&1");
  INFO(ran.output);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.output, Catch::Contains("port-forward: "));
}

TEST_CASE("npm's client for Node.js informs, applies, runs commands, copies and forwards a port") {
  const scratch_folder folder;
  if (shell("node --version && npm --version").code != 0)
    return skip("node and npm are not installed");
  const auto packages = node_packages();
  if (packages.empty()) return skip("npm could not install @kubernetes/client-node");
  const node served{folder.path() / "node", {"--runtime", "process"}};
  const auto pod = start_web_pod(served);
  REQUIRE(pod);
  const auto ran =
      shell("cd " + packages + " && timeout 60 node client.mjs " + served.kubeconfig().string() +
            " " + pod->name + " " + pod->port + " 2>&1");
  INFO(ran.output);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.output, Catch::Contains("port-forward: "));
}
