// The real manifests beside the project, as a user loads them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <map>

#include "build_paths.hpp"
#include "support/http_client.hpp"
#include "support/programs/eventually.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/kubectl.hpp"
#include "system/node.hpp"

namespace fs = std::filesystem;
using namespace troupe::test;
using Catch::Matchers::Contains;

namespace {

const fs::path manifests = fs::path{TROUPE_SOURCE_DIR} / "../shared/data/today";

// The second state of an object of another file.
constexpr const char* second_state = "deployment-revision2.yaml";

bool are_here() {
  if (fs::exists(manifests)) return true;
  troupe::test::skip(manifests.string() + " does not exist");
  return false;
}

// Manifests that create objects, sorted by name.
std::vector<std::string> loadable() {
  std::vector<std::string> out;
  for (const auto& each : fs::directory_iterator{manifests}) {
    const auto name = each.path().filename().string();
    if (!name.starts_with("invalid-") && name != second_state) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string file(const std::string& name) {
  return (manifests / name).string();
}

const std::vector<std::string> simulated{"--runtime", "simulated", "--simulated-nodes", "5"};

}  // namespace

TEST_CASE("real manifests reach Running, created and applied") {
  if (!are_here()) return;
  const auto all = kubectls();
  REQUIRE_FALSE(all.empty());
  const std::string verb = GENERATE("create", "apply");
  const kubectl& with = GENERATE(true, false) ? all.front() : all.back();
  CAPTURE(verb, with.version);
  const scratch_folder folder;
  const node served{folder.path() / "node", simulated};
  const terminal at{with, folder.path() / "home", served.kubeconfig()};
  for (const auto& name : loadable()) {
    const auto made = at.run("kubectl " + verb + " -f " + file(name));
    INFO(made.output);
    CHECK(made.code == 0);
    CHECK_THAT(made.output, Contains(" created"));
  }
  const auto changed = at.run("kubectl apply -f " + file(second_state));
  INFO(changed.output);
  CHECK(changed.code == 0);
  CHECK_THAT(changed.output, Contains("deployment.apps/nginx configured"));
  // "wanted=ready" for each controller, then the phase of each pod.
  const std::string look =
      R"(kubectl get rc,rs,deployments -o jsonpath='{range .items[*]})"
      R"({.kind}/{.metadata.name}:{.spec.replicas}={.status.readyReplicas} {end}'; echo;)"
      R"(kubectl get pods -o jsonpath='{.items[*].status.phase}')";
  std::string state;
  const bool ready = eventually([&] {
    state = at.run(look).output;
    return state.find("Pending") == state.npos && state.find("3=1") == state.npos &&
           state.find("3=2") == state.npos && state.find("3= ") == state.npos &&
           state.find("2=1") == state.npos && state.find("2= ") == state.npos &&
           state.find("1= ") == state.npos && state.find("0=1") == state.npos;
  });
  INFO(state);
  CHECK(ready);
  CHECK_THAT(state, Contains("ReplicationController/frontend:3=3"));
  CHECK_THAT(state, Contains("ReplicaSet/redis-slave:2=2"));
  CHECK_THAT(state, Contains("Deployment/nginx-deployment-resources:3=3"));
  // Pods of the first state of a deployment may still have to end.
  CHECK(eventually(
      [&] { return at.run("kubectl get pods --no-headers | grep -vc Running").output == "0\n"; }));
}

TEST_CASE("invalid manifests are refused with their fields named") {
  if (!are_here()) return;
  const scratch_folder folder;
  const node served{folder.path() / "node", simulated};
  int number = 0;
  for (const auto& with : kubectls()) {
    CAPTURE(with.version);
    const terminal at{with, folder.path() / std::to_string(++number), served.kubeconfig()};
    for (const std::string verb : {"create", "apply"}) {
      const auto pod = at.run("kubectl " + verb + " -f " + file("invalid-pod.yaml"));
      CHECK(pod.code == 1);
      CHECK_THAT(pod.output, Contains("spec.containers[0].name: Required value") ||
                                 (Contains("spec.containers[0]") && Contains("field \"name\"")));
      const auto deployment = at.run("kubectl " + verb + " -f " +
                                     file("invalid-deployment-unknown-and-duplicate-fields.yaml"));
      CHECK(deployment.code == 1);
      CHECK_THAT(deployment.output,
                 Contains("unknown field \"baz\"") || Contains("unknown field \"spec.baz\""));
      CHECK_THAT(deployment.output,
                 Contains("unknown field \"foo\"") || Contains("unknown field \"spec.foo\""));
    }
  }
}

TEST_CASE("a field that is there twice is named where YAML is sent as it is") {
  if (!are_here()) return;
  const scratch_folder folder;
  const node served{folder.path() / "node", simulated};
  http_client client{served.where()};
  const auto refused =
      client.request("POST", "/apis/apps/v1/namespaces/default/deployments?fieldValidation=Strict",
                     read_file(file("invalid-deployment-unknown-and-duplicate-fields.yaml")),
                     {{"content-type", "application/yaml"}});
  CHECK(refused.status == 400);
  CHECK_THAT(refused.body, Contains("spec.foo") && Contains("spec.baz") && Contains("duplicate") &&
                               Contains("spec.replicas"));
}
