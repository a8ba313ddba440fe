#include "benchmark/kube_cluster.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "benchmark/support.hpp"
#include "support/programs/shell.hpp"

namespace troupe::bench {
namespace {

constexpr auto server_variable = "KUBE_APISERVER_1_20";
constexpr auto manager_variable = "KUBE_CONTROLLER_MANAGER_1_20";
constexpr auto scheduler_variable = "KUBE_SCHEDULER_1_20";
constexpr auto token = "bench";
constexpr double start_limit_s = 180;
constexpr std::chrono::milliseconds look_interval{20};
// The components' defaults, 20 and 50 requests a second, would be all that is measured.
constexpr auto requests_per_second = "1000";

bool answers(const test::wire_options& address) {
  try {
    test::http_client client{address};
    return client.get("/readyz", {{"authorization", std::string{"Bearer "} + token}}).status == 200;
  } catch (const std::runtime_error&) {
    return false;  // it does not listen yet
  }
}

}  // namespace

std::string kube_cluster::missing() {
  if (auto lacks = test::etcd_server::missing(); !lacks.empty()) return lacks;
  for (const auto* variable : {server_variable, manager_variable, scheduler_variable}) {
    const auto* path = std::getenv(variable);
    if (path == nullptr || ::access(path, X_OK) != 0)
      return fmt::format("{} names no program (tests/golden-1.20/README.md)", variable);
  }
  return test::shell("command -v openssl").code == 0 ? "" : "openssl is not installed";
}

kube_cluster::kube_cluster(const std::string& folder) : folder_{folder} {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ + "/tokens") << token << ",admin,1,\"system:masters\"\n";
  std::ofstream(folder_ + "/kubeconfig") << fmt::format(
      "apiVersion: v1\n"
      "kind: Config\n"
      "clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:{}', "
      "insecure-skip-tls-verify: true}}}}]\n"
      "users: [{{name: u, user: {{token: {}}}}}]\n"
      "contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n"
      "current-context: c\n",
      port_, token);
  const auto key = folder_ + "/sa.key";
  if (test::shell("openssl genrsa -out " + key + " 2048 2> /dev/null").code != 0)
    die("openssl makes no key");
  server_ = std::make_unique<test::process>(
      std::vector<std::string>{
          std::getenv(server_variable), "--etcd-servers=" + etcd_.endpoint(),
          fmt::format("--secure-port={}", port_), "--bind-address=127.0.0.1",
          "--advertise-address=127.0.0.1", "--cert-dir=" + folder_ + "/certs",
          "--service-cluster-ip-range=10.96.0.0/16", "--token-auth-file=" + folder_ + "/tokens",
          "--authorization-mode=Node,RBAC", "--service-account-issuer=https://bench",
          "--service-account-key-file=" + key, "--service-account-signing-key-file=" + key},
      folder_ + "/kube-apiserver.log");
  for (const auto start = clock::now(); !answers(address());) {
    if (seconds_since(start) > start_limit_s)
      die("kube-apiserver does not serve: " +
          test::last_part(read_file(folder_ + "/kube-apiserver.log")));
    std::this_thread::sleep_for(look_interval);
  }
  // Nodes of the bench send no heartbeats.
  start_component(manager_variable, "kube-controller-manager",
                  {"--controllers=*,-nodeipam,-route", "--node-monitor-grace-period=10m",
                   "--service-account-private-key-file=" + key});
  start_component(scheduler_variable, "kube-scheduler", {});
}

void kube_cluster::start_component(const char* variable, const std::string& name,
                                   const std::vector<std::string>& flags) {
  // Without an election they work at once, and do not end when they cannot renew a lease under
  // load.
  std::vector<std::string> command{std::getenv(variable),
                                   "--kubeconfig=" + folder_ + "/kubeconfig",
                                   "--port=0",
                                   "--secure-port=0",
                                   "--leader-elect=false",
                                   std::string{"--kube-api-qps="} + requests_per_second,
                                   std::string{"--kube-api-burst="} + requests_per_second};
  command.insert(command.end(), flags.begin(), flags.end());
  components_.push_back(
      std::make_unique<test::process>(std::move(command), folder_ + "/" + name + ".log"));
}

test::wire_options kube_cluster::address() const {
  test::wire_options options;
  options.port = static_cast<std::uint16_t>(port_);
  return options;
}

std::string kube_cluster::bearer_token() const {
  return token;
}

double kube_cluster::server_memory_mb() const {
  return bench::memory_mb(server_->id());
}

double kube_cluster::memory_mb() const {
  auto sum = server_memory_mb();
  for (const auto& each : components_)
    sum += bench::memory_mb(each->id());
  return sum;
}

}  // namespace troupe::bench
