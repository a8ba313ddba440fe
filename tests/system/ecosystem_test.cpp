// The install manifests of real projects, loaded as their users do.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <set>
#include <sstream>

#include "build_paths.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/kubectl.hpp"
#include "system/node.hpp"

namespace fs = std::filesystem;
using namespace troupe::test;
using Catch::Matchers::Contains;

namespace {

const fs::path projects = fs::path{TROUPE_SOURCE_DIR} / "../shared/data/ecosystem";
const std::vector<std::string> simulated{"--runtime", "simulated", "--simulated-nodes", "3"};

// Definitions whose JSON is larger than an annotation may be, where `apply` stores it.
const std::set<std::string> too_large_to_apply{"alertmanagerconfigs.monitoring.coreos.com",
                                               "alertmanagers.monitoring.coreos.com",
                                               "applicationsets.argoproj.io",
                                               "prometheusagents.monitoring.coreos.com",
                                               "prometheuses.monitoring.coreos.com",
                                               "scrapeconfigs.monitoring.coreos.com",
                                               "thanosrulers.monitoring.coreos.com"};

// Unpacks the projects; false, with the reason printed, if they are missing.
bool unpack(const fs::path& into) {
  if (!fs::exists(projects)) {
    troupe::test::skip(projects.string() + " does not exist");
    return false;
  }
  fs::create_directories(into);
  for (const auto& each : fs::directory_iterator{projects}) {
    const auto unpacked =
        shell(fmt::format("tar -xJf '{}' -C '{}' 2>&1", each.path().string(), into.string()));
    if (unpacked.code == 0) continue;
    troupe::test::skip("tar cannot unpack .tar.xz here: " + unpacked.output);
    return false;
  }
  return true;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream from(text);
  for (std::string line; std::getline(from, line);)
    all.push_back(line);
  return all;
}

std::size_t objects_in(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& each : fs::recursive_directory_iterator{folder}) {
    if (!each.is_regular_file()) continue;
    for (const auto& line : lines_of(read_file(each.path())))
      count += line.starts_with("kind: ") ? 1 : 0;
  }
  return count;
}

struct outcome {
  std::size_t made = 0;
  std::set<std::string> too_large;
  std::vector<std::string> other;  // lines that are neither, nor warnings
};

outcome outcome_of(const std::string& output) {
  const std::string refusal =
      "\" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes";
  outcome seen;
  for (const auto& line : lines_of(output)) {
    if (line.ends_with(" created") || line.ends_with(" serverside-applied")) {
      ++seen.made;
    } else if (line.ends_with(refusal)) {
      const auto named = line.substr(0, line.size() - refusal.size());
      seen.too_large.insert(named.substr(named.rfind('"') + 1));
    } else if (!line.starts_with("Warning: ")) {
      seen.other.push_back(line);
    }
  }
  return seen;
}

const kubectl& with_kubectl(const std::vector<kubectl>& all) {
  REQUIRE_FALSE(all.empty());
  return GENERATE(true, false) ? all.front() : all.back();
}

}  // namespace

TEST_CASE("the manifests of real projects are installed by create, apply and server-side apply") {
  const scratch_folder folder;
  const auto data = folder.path() / "data";
  if (!unpack(data)) return;
  const auto all = kubectls();
  const auto& with = with_kubectl(all);
  const std::string verb = GENERATE("create", "apply", "apply --server-side");
  CAPTURE(with.version, verb);
  const node served{folder.path() / "node", simulated};
  const terminal at{with, folder.path() / "home", served.kubeconfig()};
  std::set<std::string> too_large;
  for (const auto& project : fs::directory_iterator{data}) {
    const auto made =
        at.run(fmt::format("kubectl {} -R -f {} 2>&1", verb, project.path().string()));
    INFO(made.output);
    const auto seen = outcome_of(made.output);
    CHECK(seen.other.empty());
    CHECK(seen.made + seen.too_large.size() == objects_in(project.path()));
    CHECK(made.code == (seen.too_large.empty() ? 0 : 1));
    too_large.insert(seen.too_large.begin(), seen.too_large.end());
  }
  CHECK(too_large == (verb == "apply" ? too_large_to_apply : std::set<std::string>{}));
  const auto waited = at.run("kubectl wait --for=condition=Established crd --all --timeout=120s");
  INFO(waited.output);
  CHECK(waited.code == 0);
  // The second time must have the same result.
  if (verb == "create") return;
  const auto again =
      at.run(fmt::format("kubectl {} -R -f {} 2>&1", verb, (data / "cert-manager").string()));
  INFO(again.output);
  CHECK(again.code == 0);
  CHECK_THAT(again.output, !Contains("configured"));
}

TEST_CASE("the deployments of argo-cd become Available") {
  const scratch_folder folder;
  const auto data = folder.path() / "data";
  if (!unpack(data)) return;
  const auto all = kubectls();
  const node served{folder.path() / "node", simulated};
  const terminal at{all.back(), folder.path() / "home", served.kubeconfig()};
  REQUIRE(at.run("kubectl create namespace argocd").code == 0);
  const auto made = at.run("kubectl apply --server-side -n argocd -f " +
                           (data / "argo-cd/manifests_install.yaml").string());
  INFO(made.output);
  REQUIRE(made.code == 0);
  const auto waited =
      at.run("kubectl wait -n argocd deployment --all --for=condition=Available --timeout=120s");
  INFO(waited.output);
  CHECK(waited.code == 0);
  CHECK(lines_of(waited.output).size() == 6);
  CHECK(at.run("kubectl get statefulset -n argocd -o name").output ==
        "statefulset.apps/argocd-application-controller\n");
  const auto endpoints = at.run(
      "kubectl get endpoints argocd-server -n argocd -o jsonpath='{.subsets[*].ports[*].port}'");
  CHECK_THAT(endpoints.output, Contains("8080"));
}
