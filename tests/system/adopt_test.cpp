// A node serves an etcd that kube-apiserver 1.20 has written, and kube-apiserver 1.20 lists
// the objects that the node has written.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "api/values/base64.hpp"
#include "build_paths.hpp"
#include "etcd/etcd_server.hpp"
#include "support/http_client.hpp"
#include "support/programs/process.hpp"
#include "support/programs/shell.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/kubectl.hpp"
#include "system/node.hpp"

using namespace troupe::test;
namespace fs = std::filesystem;

namespace {

// Waits until etcd serves.
process_result etcdctl(const etcd_server& etcd, const std::string& words) {
  return shell(fmt::format(
      "ETCDCTL_API=3 etcdctl --dial-timeout 60s --command-timeout 60s --endpoints {} {}",
      etcd.endpoint(), words));
}

// The data of kube-apiserver 1.20 (tests/golden-1.20/README.md), except keys with leases.
void load_golden(const etcd_server& etcd, const fs::path& folder) {
  std::ifstream file(TROUPE_SOURCE_DIR "/tests/golden-1.20/etcd.txt");
  const auto value_file = folder / "value";
  std::string key, text;
  while (file >> key >> text) {
    std::string value;
    REQUIRE_FALSE(troupe::api::append_from_base64(value, text));
    std::ofstream(value_file, std::ios::binary) << value;
    REQUIRE(etcdctl(etcd, fmt::format("put -- '{}' < {}", key, value_file.string())).code == 0);
  }
}

std::unique_ptr<node> serve(const etcd_server& etcd, const fs::path& data) {
  return std::make_unique<node>(
      data, std::vector<std::string>{"--node-name", "one", "--store", "etcd", "--etcd-endpoints",
                                     etcd.endpoint(), "--storage-target", "1.20", "--runtime",
                                     "simulated", "--log-level", "info"});
}

// The number of objects in each list of an API.
std::size_t items(http_client& client, const std::string& path) {
  const auto found = client.request("GET", path);
  REQUIRE(found.status == 200);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = found.body.find("\"creationTimestamp\"", at)) != found.body.npos;
       ++at)
    ++count;
  return count;
}

// Kinds on which no controller of a node acts here.
constexpr auto kinds =
    "services,rc,configmaps,secrets,serviceaccounts,ingresses,hpa,cronjobs,statefulsets,pdb,"
    "networkpolicies,persistentvolumeclaims,limitranges,resourcequotas,roles,rolebindings,"
    "podtemplates,deployments,daemonsets,things.example.com";
constexpr auto cluster_kinds =
    "nodes,persistentvolumes,storageclasses,customresourcedefinitions,priorityclasses,"
    "certificatesigningrequests,csidrivers,csinodes,runtimeclasses,ingressclasses,clusterroles,"
    "clusterrolebindings,namespaces,volumeattachments,olds.example.com";

std::string names(const std::string& kubectl_command) {
  const auto inside = shell(kubectl_command + " -n golden get " + kinds + " -o name");
  const auto outside = shell(kubectl_command + " get " + cluster_kinds + " -o name");
  REQUIRE(inside.code == 0);
  REQUIRE(outside.code == 0);
  return inside.output + outside.output;
}

// The output of `troupe store`, which must succeed.
std::string store_command(const std::string& arguments) {
  const auto done = shell(fmt::format("{}/troupe store {} 2>&1", TROUPE_BINARY_DIR, arguments));
  INFO(arguments << "\n" << done.output);
  REQUIRE(done.code == 0);
  return done.output;
}

// A control plane with this name serves the etcd.
void check_refused(const std::string& arguments, const std::string& name) {
  const auto done = shell(fmt::format("{}/troupe store {} 2>&1", TROUPE_BINARY_DIR, arguments));
  CHECK(done.code == 1);
  CHECK_THAT(done.output, Catch::Matchers::Contains("the control plane " + name + " serves"));
}

struct seen_object {
  std::string uid;
  unsigned long revision;
};

seen_object look_at(http_client& client, const std::string& path) {
  const auto found = client.request("GET", path);
  INFO(path << ": " << found.body);
  REQUIRE(found.status == 200);
  const auto text_of = [&](const std::string& field) {
    const auto label = "\"" + field + "\":\"";
    const auto at = found.body.find(label);
    REQUIRE(at != std::string::npos);
    const auto begin = at + label.size();
    return found.body.substr(begin, found.body.find('"', begin) - begin);
  };
  return {text_of("uid"), std::stoul(text_of("resourceVersion"))};
}

// The same object, and no older one.
void check_kept(http_client& client, const std::string& path, const seen_object& before) {
  const auto now = look_at(client, path);
  CHECK(now.uid == before.uid);
  CHECK(now.revision >= before.revision);
}

std::set<std::string> lines(const std::string& text) {
  std::set<std::string> all;
  for (std::size_t from = 0, end = 0; (end = text.find('\n', from)) != text.npos; from = end + 1)
    all.insert(text.substr(from, end - from));
  return all;
}

// kube-apiserver 1.20 on an etcd, with an administrator's token "golden".
class kube_apiserver {
 public:
  // Why it cannot run; empty if it can.
  static std::string missing() {
    const auto* path = std::getenv("KUBE_APISERVER_1_20");
    return path == nullptr || !fs::exists(path) ? "KUBE_APISERVER_1_20 names no kube-apiserver 1.20"
                                                : "";
  }

  kube_apiserver(const etcd_server& etcd, const fs::path& folder) {
    fs::create_directories(folder);
    std::ofstream(folder / "tokens") << "golden,admin,1,\"system:masters\"\n";
    const auto key = (folder / "key").string();
    REQUIRE(shell("openssl genrsa -out " + key + " 2048 2> /dev/null").code == 0);
    program_ =
        std::make_unique<process>(std::vector<std::string>{std::getenv("KUBE_APISERVER_1_20"),
                                                           "--etcd-servers",
                                                           etcd.endpoint(),
                                                           "--secure-port",
                                                           std::to_string(port_),
                                                           "--bind-address",
                                                           "127.0.0.1",
                                                           "--advertise-address",
                                                           "127.0.0.1",
                                                           "--cert-dir",
                                                           (folder / "certs").string(),
                                                           "--service-cluster-ip-range",
                                                           "10.96.0.0/16",
                                                           "--token-auth-file",
                                                           (folder / "tokens").string(),
                                                           "--authorization-mode",
                                                           "RBAC",
                                                           "--disable-admission-plugins",
                                                           "ServiceAccount",
                                                           "--service-account-issuer",
                                                           "https://golden",
                                                           "--service-account-key-file",
                                                           key,
                                                           "--service-account-signing-key-file",
                                                           key},
                                  folder / "log");
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{180};
    while (shell(kubectl() + " get --raw /readyz 2> /dev/null").code != 0)
      REQUIRE(std::chrono::steady_clock::now() < until);
  }

  std::string kubectl() const {
    return fmt::format(
        "kubectl --server https://127.0.0.1:{} --insecure-skip-tls-verify --token golden", port_);
  }

 private:
  const int port_ = free_port();
  std::unique_ptr<process> program_;
};

}  // namespace

TEST_CASE("objects that kube-apiserver 1.20 stored in etcd are served, and not duplicated",
          "[etcd][adopt]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  if (shell("command -v etcdctl").code != 0) return skip("etcdctl is not installed");
  const scratch_folder folder;
  const etcd_server etcd;
  load_golden(etcd, folder.path());
  const auto served = serve(etcd, folder.path() / "data");
  http_client client{served->where()};
  CHECK(items(client, "/api/v1/namespaces/golden/services") == 2);
  CHECK(items(client, "/api/v1/namespaces/golden/replicationcontrollers") == 1);
  CHECK(items(client, "/apis/networking.k8s.io/v1/namespaces/golden/ingresses") == 1);
  CHECK(items(client, "/apis/autoscaling/v1/namespaces/golden/horizontalpodautoscalers") == 2);
  CHECK(items(client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions") == 2);
  CHECK(items(client, "/apis/example.com/v1/namespaces/golden/things") == 1);
  CHECK(client.request("GET", "/api/v1/nodes/node-1").status == 200);
  // A Deployment of 1.20 gets one ReplicaSet, and no other one after that has its pods.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  const std::string deployment = "/apis/apps/v1/namespaces/golden/deployments/recreate";
  while (client.request("GET", deployment).body.find("\"updatedReplicas\":1") == std::string::npos)
    REQUIRE(std::chrono::steady_clock::now() < until);
  CHECK(items(client, "/apis/apps/v1/namespaces/golden/replicasets") <= 4);
}

TEST_CASE("kube-apiserver 1.20 lists objects that a node served and wrote", "[etcd][adopt]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  if (const auto why = kube_apiserver::missing(); !why.empty()) return skip(why);
  const scratch_folder folder;
  const etcd_server etcd;
  load_golden(etcd, folder.path());
  std::string before;
  {
    const auto served = serve(etcd, folder.path() / "data");
    const auto kubectl = "kubectl --kubeconfig " + served->kubeconfig().string();
    REQUIRE(shell(kubectl + " -n golden create configmap made --from-literal=a=b").code == 0);
    REQUIRE(shell(kubectl + " -n golden create service clusterip made --tcp=80").code == 0);
    REQUIRE(shell(kubectl + " -n golden label ingress,hpa,cronjobs,pdb,deployments,services,"
                            "things.example.com --all seen=yes")
                .code == 0);
    before = names(kubectl);
  }
  const kube_apiserver upstream{etcd, folder.path() / "upstream"};
  const auto after = lines(names(upstream.kubectl()));
  for (const auto& each : lines(before)) {
    CAPTURE(each);
    CHECK(after.contains(each));
  }
  CHECK(after.size() > 60);
  const auto labelled =
      shell(upstream.kubectl() + " -n golden get ingress,hpa,cronjobs -l seen=yes -o name");
  CHECK(lines(labelled.output).size() == 4);
}

TEST_CASE("a copy into etcd is of the release that it names, and its Events have leases",
          "[etcd][adopt]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  if (shell("command -v etcdctl").code != 0) return skip("etcdctl is not installed");
  const scratch_folder folder;
  const auto data = folder.path() / "data";
  const http_client::fields json{{"content-type", "application/json"}};
  {
    const node alone{data, {"--runtime", "simulated"}};
    http_client client{alone.where()};
    CHECK(client
              .request("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                       R"({"metadata":{"name":"p"},"spec":{"minAvailable":1}})", json)
              .status == 201);
    CHECK(client
              .request("POST", "/api/v1/namespaces/default/events",
                       R"({"metadata":{"name":"e"},"involvedObject":{"namespace":"default"}})",
                       json)
              .status == 201);
  }
  const etcd_server etcd;
  REQUIRE(etcdctl(etcd, "endpoint health").code == 0);
  const auto copy = [&](const std::string& target) {
    return shell(
        fmt::format("{}/troupe store copy --from {} --to etcd --etcd-endpoints {} "
                    "--storage-target {} 2>&1",
                    TROUPE_BINARY_DIR, data.string(), etcd.endpoint(), target));
  };
  const auto stored = [&](const std::string& key, const std::string& format) {
    return etcdctl(etcd, fmt::format("get {} --write-out {}", key, format)).output;
  };
  const auto wrong = copy("1.19");
  CHECK(wrong.code != 0);
  CHECK_THAT(wrong.output, Catch::Matchers::Contains("1.19 not in {1.20"));
  const auto copied = copy("1.20");
  INFO(copied.output);
  REQUIRE(copied.code == 0);
  CHECK_THAT(
      stored("/registry/poddisruptionbudgets/default/p", "fields"),
      Catch::Matchers::Contains("policy/v1beta1") && Catch::Matchers::Contains("\"Lease\" : 0\n"));
  CHECK_THAT(
      stored("/registry/events/default/e", "fields"),
      Catch::Matchers::Contains("\"Lease\" : ") && !Catch::Matchers::Contains("\"Lease\" : 0\n"));
}

TEST_CASE("a cluster moves into etcd and back, and from a backup of it into another etcd",
          "[etcd][adopt]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  const scratch_folder folder;
  const auto data = [&](const std::string& name) { return (folder.path() / name).string(); };
  const http_client::fields json{{"content-type", "application/json"}};
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  const auto create = [&](http_client& client, const std::string& name) {
    REQUIRE(
        client.request("POST", maps, R"({"metadata":{"name":")" + name + R"("}})", json).status ==
        201);
    return look_at(client, maps + "/" + name);
  };
  const auto copy_authority = [&](const std::string& to) {
    fs::create_directories(data(to));
    fs::copy(data("alone") + "/pki", data(to) + "/pki", fs::copy_options::recursive);
  };
  seen_object early, later;
  {
    const node alone{data("alone"), {"--runtime", "simulated"}};
    http_client client{alone.where()};
    early = create(client, "early");
  }
  const etcd_server etcd, other_etcd;
  const auto endpoint = " --etcd-endpoints " + etcd.endpoint();
  store_command("copy --to etcd --from " + data("alone") + endpoint);
  copy_authority("over-etcd");
  {
    const auto served = serve(etcd, data("over-etcd"));
    http_client client{served->where()};
    check_kept(client, maps + "/early", early);
    later = create(client, "later");
    check_refused("copy --from etcd --to " + data("too-early") + endpoint, "one");
    CHECK_FALSE(fs::exists(data("too-early") + "/store"));
    check_refused("copy --to etcd --from " + data("alone") + endpoint, "one");
  }
  store_command("copy --from etcd --to " + data("back") + endpoint);
  copy_authority("back");
  {
    const node back{data("back"), {"--runtime", "simulated"}};
    http_client client{back.where()};
    check_kept(client, maps + "/early", early);
    check_kept(client, maps + "/later", later);
    CHECK(create(client, "last").revision > later.revision);
  }
  store_command("backup " + data("file") + " --from etcd --pki " + data("alone") + "/pki" +
                endpoint);
  store_command("restore " + data("file") + " --to etcd --pki " + data("restored") +
                "/pki --etcd-endpoints " + other_etcd.endpoint());
  const auto restored = serve(other_etcd, data("restored"));
  http_client client{restored->where()};
  check_kept(client, maps + "/early", early);
  check_kept(client, maps + "/later", later);
  CHECK(client.request("GET", maps + "/last").status == 404);
}
