// Foreign client libraries, with programs as their authors would write them (tests/clients/).
#include <catch2/catch.hpp>
#include <filesystem>

#include "build_paths.hpp"
#include "support/programs/eventually.hpp"
#include "support/programs/shell.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/node.hpp"

using namespace troupe::test;

TEST_CASE(
    "Debian's client for Python lists, watches, defines kinds, runs a controller and elects") {
  const scratch_folder folder;
  const auto there = shell("/usr/bin/python3 -c 'import kubernetes' 2>&1");
  if (there.code != 0) return skip("python3-kubernetes is not installed");
  const node served{folder.path() / "node", {"--runtime", "simulated", "--simulated-nodes", "1"}};
  const auto ran = shell("timeout 300 " TROUPE_SOURCE_DIR "/tests/clients/controller.py " +
                         served.kubeconfig().string() + " 2>&1");
  INFO(ran.output);
  CHECK(ran.code == 0);
  for (const auto* part :
       {"pods: ", "custom resources: ", "controller: ", "leader election: elected"})
    CHECK_THAT(ran.output, Catch::Contains(part));
}

namespace {

// A pod that serves HTTP on a free port. It is deleted with this object.
class web_pod {
 public:
  explicit web_pod(const node& on)
      : kubectl_{"timeout 120 kubectl --kubeconfig " + on.kubeconfig().string() + " "} {
    const auto manifest = TROUPE_SOURCE_DIR "/tests/clients/web_pod.yaml";
    const auto made = shell(kubectl_ + "create -f " + manifest + " 2>&1 && " + kubectl_ +
                            "wait --for=condition=Ready pod/web --timeout=90s 2>&1");
    INFO(made.output);
    REQUIRE(made.code == 0);
    // "port 12345"
    std::string said;
    REQUIRE(eventually([&] {
      said = shell(kubectl_ + "logs web").output;
      return said.starts_with("port ") && said.ends_with('\n');
    }));
    port_ = said.substr(5, said.find('\n') - 5);
  }
  ~web_pod() { shell(kubectl_ + "delete pod web 2>&1"); }
  web_pod(const web_pod&) = delete;
  web_pod& operator=(const web_pod&) = delete;

  // For the command line of a client.
  std::string arguments() const { return "web " + port_; }

 private:
  const std::string kubectl_;
  std::string port_;
};

// The packages of a client for Node.js, stored beside the build; empty if not available.
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
  const web_pod pod{served};
  const auto ran = shell("timeout 300 " TROUPE_SOURCE_DIR "/tests/clients/streams.py " +
                         served.kubeconfig().string() + " " + pod.arguments() + " 2>&1");
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
  const web_pod pod{served};
  const auto ran = shell("cd " + packages + " && timeout 300 node client.mjs " +
                         served.kubeconfig().string() + " " + pod.arguments() + " 2>&1");
  INFO(ran.output);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.output, Catch::Contains("port-forward: "));
}
