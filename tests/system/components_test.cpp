// kube-controller-manager and kube-scheduler 1.20 do the work of a cluster that Troupe serves, and
// Troupe continues it.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "etcd/etcd_server.hpp"
#include "support/programs/process.hpp"
#include "support/programs/shell.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/component_objects.hpp"
#include "system/kubectl.hpp"
#include "system/node.hpp"

using namespace troupe::test;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr auto manager_variable = "KUBE_CONTROLLER_MANAGER_1_20";
constexpr auto scheduler_variable = "KUBE_SCHEDULER_1_20";

// Why the program that the variable names cannot run; empty if it can.
std::string missing(const char* variable) {
  const auto* path = std::getenv(variable);
  if (path == nullptr || !fs::exists(path))
    return fmt::format("{} names no program (tests/golden-1.20/README.md)", variable);
  return shell("command -v openssl kubectl").code == 0 ? "" : "openssl or kubectl is not installed";
}

using flags = std::vector<std::string>;
const flags without_scheduler{"--scheduler=false", "--removed-versions", "on"};
const flags without_controllers{"--scheduler=false", "--removed-versions", "on", "--controllers",
                                "definition-controller,api-service-registrar"};

// A node of which the state is in one folder; its controllers and its scheduler can be off.
class cluster_node {
 public:
  // `store`: the flags of its store; empty: embedded.
  explicit cluster_node(fs::path folder, flags store = {})
      : folder_{std::move(folder)}, store_{std::move(store)} {}

  void start(const flags& more = {}) {
    flags all{"--runtime", "simulated", "--simulated-nodes", "2", "--node-name", "one"};
    all.insert(all.end(), store_.begin(), store_.end());
    all.insert(all.end(), more.begin(), more.end());
    node_.emplace(folder_ / "data", all);
  }
  void stop() {
    node_->signal(SIGTERM);
    REQUIRE(node_->wait(60s) == 0);
    node_.reset();
  }

  process_result kubectl(const std::string& command) const {
    return shell(fmt::format("kubectl --kubeconfig {} {}", node_->kubeconfig().string(), command));
  }
  std::string output(const std::string& command) const {
    const auto ran = kubectl(command + " 2>&1");
    INFO(command << "\n" << ran.output);
    REQUIRE(ran.code == 0);
    return ran.output;
  }
  // Waits until the command prints exactly that; warnings do not count.
  void expect(const std::string& command, const std::string& text,
              std::chrono::seconds limit = 120s) const {
    const auto until = std::chrono::steady_clock::now() + limit;
    std::string seen;
    while ((seen = kubectl(command + " 2>/dev/null").output) != text) {
      INFO(command << "\nprints: " << seen << "\nexpected: " << text);
      REQUIRE(std::chrono::steady_clock::now() < until);
    }
  }
  void apply(const std::string& text) const {
    std::ofstream(folder_ / "manifest.yaml") << text;
    output("apply -f " + (folder_ / "manifest.yaml").string());
  }

  // A kubeconfig with a certificate of the cluster's authority.
  fs::path kubeconfig_of(const std::string& user) const {
    const auto pki = (folder_ / "data/pki").string();
    const auto file = (folder_ / user).string();
    const auto made = shell(fmt::format(
        "openssl req -newkey rsa:2048 -nodes -keyout {0}.key -subj /CN=system:{1} -out {0}.csr "
        "2>/dev/null && openssl x509 -req -in {0}.csr -CA {2}/ca.crt -CAkey {2}/ca.key "
        "-set_serial 7 -days 1 -out {0}.crt 2>/dev/null && export KUBECONFIG={0}.kubeconfig && "
        "kubectl config set-cluster c --server https://127.0.0.1:{3} "
        "--certificate-authority {2}/ca.crt && "
        "kubectl config set-credentials u --client-certificate {0}.crt --client-key {0}.key && "
        "kubectl config set-context c --cluster c --user u && kubectl config use-context c",
        file, user, pki, node_->port()));
    REQUIRE(made.code == 0);
    return file + ".kubeconfig";
  }
  fs::path pki() const { return folder_ / "data/pki"; }

 private:
  const fs::path folder_;
  const flags store_;
  std::optional<node> node_;
};

// A component of 1.20 with a user of its own; it leads when the constructor returns.
class component {
 public:
  component(const cluster_node& cluster, const fs::path& folder, const std::string& name,
            const char* variable, const flags& more = {}) {
    flags command{std::getenv(variable), "--kubeconfig", cluster.kubeconfig_of(name).string()};
    command.insert(command.end(), {"--port", "0", "--secure-port", "0"});
    command.insert(command.end(), more.begin(), more.end());
    process_ = std::make_unique<process>(std::move(command), folder / (name + ".log"));
    cluster.expect(fmt::format("-n kube-system get lease {} -o name", name),
                   fmt::format("lease.coordination.k8s.io/{}\n", name));
  }

  // As an operator ends it.
  void stop() {
    process_->signal(SIGTERM);
    CHECK(process_->wait(60s).has_value());
  }

 private:
  std::unique_ptr<process> process_;
};

flags manager_flags(const cluster_node& cluster) {
  const auto pki = cluster.pki().string();
  return {"--use-service-account-credentials",
          "--controllers=*,-nodeipam,-route",
          "--service-account-private-key-file",
          pki + "/sa.key",
          "--root-ca-file",
          pki + "/ca.crt",
          "--cluster-signing-cert-file",
          pki + "/ca.crt",
          "--cluster-signing-key-file",
          pki + "/ca.key"};
}

constexpr auto pod_uids = "-n work get pods -l app=web -o jsonpath={.items[*].metadata.uid}";
constexpr auto pod_addresses = "-n work get pods -l app=web -o jsonpath={.items[*].status.podIP}";
constexpr auto ready_web = "-n work get deployment web -o jsonpath={.status.readyReplicas}";

std::set<std::string> words(const std::string& text) {
  const auto all = words_of(text);
  return {all.begin(), all.end()};
}

// Both components take over a cluster that Troupe's controllers made, and hand it back.
void check_both(const flags& store) {
  const scratch_folder folder;
  cluster_node cluster{folder.path(), store};
  cluster.start();
  cluster.output("create namespace work");
  cluster.output("create namespace gone");
  cluster.apply(workloads);
  cluster.expect(ready_web, "3");
  const auto first_pods = words(cluster.output(pod_uids));
  cluster.stop();

  cluster.start(without_controllers);
  component manager{cluster, folder.path(), "kube-controller-manager", manager_variable,
                    manager_flags(cluster)};
  component scheduler{cluster, folder.path(), "kube-scheduler", scheduler_variable};
  cluster.apply(more_workloads);
  cluster.output("-n work scale deployment web --replicas 5");
  cluster.expect(ready_web, "5");
  auto second_pods = words(cluster.output(pod_uids));
  CHECK(
      std::includes(second_pods.begin(), second_pods.end(), first_pods.begin(), first_pods.end()));
  // Pods with one address would be one endpoint.
  CHECK(words(cluster.output(pod_addresses)).size() == 5);
  cluster.expect("-n work get statefulset db -o jsonpath={.status.readyReplicas}", "2");
  cluster.expect("-n work get daemonset agent -o jsonpath={.status.numberReady}", "2");
  cluster.expect("-n work get job once -o jsonpath={.status.succeeded}", "1");
  cluster.expect("-n work get pdb web -o jsonpath={.status.disruptionsAllowed}", "3");
  cluster.expect(
      "-n work get endpointslices -l kubernetes.io/service-name=web -o "
      "jsonpath={.items[*].endpoints[*].conditions.ready}",
      "true true true true true");
  cluster.expect("-n work get quota limits -o jsonpath={.status.hard.pods}", "50");
  cluster.expect("-n work get configmap kube-root-ca.crt -o name", "configmap/kube-root-ca.crt\n");
  cluster.output("create namespace later");
  cluster.expect("-n later get serviceaccount default -o name", "serviceaccount/default\n");
  cluster.output("-n gone create configmap left");
  cluster.output("delete namespace gone --timeout 120s");
  cluster.output("-n work delete statefulset db --timeout 120s");
  cluster.expect("-n work get pods -l app=db -o name", "");
  // The name of a CronJob's first Job has the minute in which it is made.
  cluster.expect("-n work get cronjob tick -o jsonpath={.status.active[*].kind}", "Job", 180s);
  manager.stop();
  scheduler.stop();
  cluster.stop();

  cluster.start();
  cluster.output("-n work scale deployment web --replicas 6");
  cluster.expect(ready_web, "6");
  const auto third_pods = words(cluster.output(pod_uids));
  CHECK(third_pods.size() == 6);
  CHECK(
      std::includes(third_pods.begin(), third_pods.end(), second_pods.begin(), second_pods.end()));
  cluster.expect("-n work get endpoints web -o jsonpath={.subsets[*].addresses[*].targetRef.kind}",
                 "Pod Pod Pod Pod Pod Pod");
  CHECK(words(cluster.output("-n work get replicasets -l app=web -o name")).size() == 1);
  CHECK(words(cluster.output("-n work get pods -l app=agent -o name")).size() == 2);
  // Its Jobs name their owner in a version that this node does not serve.
  cluster.output("-n work delete cronjob tick");
  cluster.expect("-n work get jobs -o name", "job.batch/once\n");
  cluster.output("-n work delete deployment web");
  cluster.expect("-n work get pods -l app=web -o name", "");
  cluster.stop();
}

}  // namespace

TEST_CASE("versions that 1.20 needs are served when they are asked for", "[components]") {
  if (shell("command -v kubectl").code != 0) return skip("kubectl is not installed");
  const scratch_folder folder;
  cluster_node cluster{folder.path()};
  cluster.start();
  CHECK_THAT(cluster.output("api-versions"), !Catch::Contains("policy/v1beta1"));
  cluster.stop();
  cluster.start(without_controllers);
  const auto versions = cluster.output("api-versions");
  for (const auto* each : {"batch/v1beta1\n", "discovery.k8s.io/v1beta1\n", "policy/v1beta1\n"})
    CHECK_THAT(versions, Catch::Contains(each));
  cluster.apply(old_objects);
  CHECK(cluster.output("get cronjobs.v1.batch tick -o jsonpath={.spec.schedule}") == "@yearly");
  CHECK(cluster.output("get pdb none -o jsonpath={.spec.selector.matchExpressions[*].operator}") ==
        "Exists");
  CHECK(cluster.output("get endpointslices.v1.discovery.k8s.io one -o "
                       "jsonpath={.endpoints[*].nodeName}") == "n1");
  CHECK(cluster.output("get endpointslices.v1beta1.discovery.k8s.io one -o "
                       "jsonpath={.endpoints[*].topology}") ==
        R"({"kubernetes.io/hostname":"n1"})");
  cluster.stop();
}

TEST_CASE("kube-scheduler 1.20 binds pods in place of our scheduler, and ours continues",
          "[components]") {
  if (const auto why = missing(scheduler_variable); !why.empty()) return skip(why);
  const scratch_folder folder;
  cluster_node cluster{folder.path()};
  cluster.start(without_scheduler);
  cluster.output("create namespace work");
  cluster.apply(workloads);
  component scheduler{cluster, folder.path(), "kube-scheduler", scheduler_variable};
  cluster.expect(ready_web, "3");
  const auto first_pods = words(cluster.output(pod_uids));
  CHECK(first_pods.size() == 3);
  scheduler.stop();
  cluster.stop();

  cluster.start();
  cluster.output("-n work scale deployment web --replicas 5");
  cluster.expect(ready_web, "5");
  const auto second_pods = words(cluster.output(pod_uids));
  CHECK(second_pods.size() == 5);
  CHECK(
      std::includes(second_pods.begin(), second_pods.end(), first_pods.begin(), first_pods.end()));
  cluster.stop();
}

TEST_CASE("kube-controller-manager and kube-scheduler 1.20 take over, and hand the work back",
          "[components]") {
  if (const auto why = missing(manager_variable); !why.empty()) return skip(why);
  if (const auto why = missing(scheduler_variable); !why.empty()) return skip(why);
  check_both({});
}

TEST_CASE("the components of 1.20 take over and hand back over etcd, too", "[components][etcd]") {
  if (const auto why = missing(manager_variable); !why.empty()) return skip(why);
  if (const auto why = missing(scheduler_variable); !why.empty()) return skip(why);
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  const etcd_server etcd;
  check_both({"--store", "etcd", "--etcd-endpoints", etcd.endpoint(), "--storage-target", "1.20"});
}
