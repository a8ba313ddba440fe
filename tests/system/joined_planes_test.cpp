// Control planes that join one another over one etcd, and machines that know all of them: real
// processes on one machine.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>

#include "build_paths.hpp"
#include "etcd/etcd_server.hpp"
#include "support/http_client.hpp"
#include "support/programs/eventually.hpp"
#include "support/programs/process.hpp"
#include "support/programs/shell.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/node.hpp"

using namespace troupe::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

const http_client::fields json{{"content-type", "application/json"}};
const std::string pods = "/api/v1/namespaces/default/pods";
const std::string endpoints = "/api/v1/namespaces/default/endpoints/kubernetes";
const std::string troupe = TROUPE_BINARY_DIR "/troupe";

// The printed command without "troupe".
std::vector<std::string> token_line(const fs::path& data, const std::string& flags = {}) {
  const auto made =
      shell(fmt::format("{} token create --data-dir {} {}", troupe, data.string(), flags));
  REQUIRE(made.code == 0);
  auto words = words_of(made.output);
  words.erase(words.begin());
  return words;
}

// Both of its outputs.
process_result run(const std::string& arguments) {
  return shell(fmt::format("{} {} 2>&1", troupe, arguments));
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& each : words)
    text += " " + each;
  return text;
}

bool has(http_client& of, const std::string& path, const std::string& text) {
  return of.request("GET", path).body.find(text) != std::string::npos;
}

std::string pod_json(const std::string& name, const std::string& node) {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}"}},"spec":{{"nodeName":"{1}","terminationGracePeriodSeconds":1,)"
      R"("containers":[{{"name":"c","image":"none",)"
      R"("command":["sh","-c","echo this is {0}; sleep 1000"]}}]}}}})",
      name, node);
}

bool runs(http_client& of, const std::string& name) {
  return has(of, pods + "/" + name, "\"phase\":\"Running\"");
}

// Two control planes over one etcd, of which the second has joined.
struct two_planes {
  two_planes() {
    first = std::make_unique<node>(
        data("first"),
        std::vector<std::string>{"--node-name", "first", "--store", "etcd", "--etcd-endpoints",
                                 etcd.endpoint(), "--etcd-leader-lease", "2s"});
    auto flags = token_line(data("first"), "--control-plane");
    flags.insert(flags.end(), {"--node-name", "second", "--etcd-leader-lease", "2s"});
    second = std::make_unique<node>(data("second"), flags);
  }

  fs::path data(const std::string& name) const { return folder.path() / name; }

  const scratch_folder folder;
  const etcd_server etcd;
  std::unique_ptr<node> first, second;
};

// A machine that joined with the command that the first control plane printed.
struct machine {
  explicit machine(const two_planes& planes) {
    auto command = token_line(planes.data("first"));
    command.insert(command.begin(), troupe);
    command.insert(command.end(), {"--data-dir", planes.data("machine").string(), "--node-name",
                                   "machine", "--runtime", "process"});
    program = std::make_unique<process>(command, planes.folder.path() / "machine.log");
    CHECK_THAT(program->read_line(60s), Contains(" as machine"));
  }
  std::unique_ptr<process> program;
};

const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
const std::string robot = "\"username\":\"system:serviceaccount:default:robot\"";

// A new token of the account `robot`.
std::string robot_token(http_client& signer) {
  const auto made = signer.request("POST", accounts + "/robot/token", R"({"spec":{}})", json);
  INFO(made.body);
  REQUIRE(made.status == 201);
  const std::string label = "\"token\":\"";
  const auto begin = made.body.find(label);
  REQUIRE(begin != std::string::npos);
  const auto from = begin + label.size();
  return made.body.substr(from, made.body.find('"', from) - from);
}

// As a client without a certificate, and in a TokenReview.
void check_accepts(const node& plane, const std::string& token) {
  auto stranger = plane.where();
  stranger.certificate.clear();
  stranger.private_key.clear();
  const auto self = http_client{stranger}.request(
      "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}",
      {{"content-type", "application/json"}, {"authorization", "Bearer " + token}});
  CHECK(self.status == 201);
  CHECK_THAT(self.body, Contains(robot));
  http_client admin{plane.where()};
  const auto review = admin.request("POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                                    fmt::format(R"({{"spec":{{"token":"{}"}}}})", token), json);
  CHECK(review.status == 201);
  CHECK_THAT(review.body, Contains("\"authenticated\":true") && Contains(robot));
}

}  // namespace

TEST_CASE("a control plane joins by one line, and machines go on when the other is killed",
          "[etcd][planes]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  two_planes cluster;
  CHECK_THAT(read_file(cluster.data("second").string() + ".log"),
             Contains("loopback only") && Contains("--listen"));
  http_client to_first{cluster.first->where()}, to_second{cluster.second->where()};
  CHECK(eventually([&] {
    const auto all = to_second.request("GET", endpoints).body;
    return all.find("first/127.0.0.1") != std::string::npos &&
           all.find("second/127.0.0.1") != std::string::npos;
  }));
  // The console of each shows the actors of the other.
  CHECK(eventually([&] {
    const auto shown =
        run(fmt::format("console --data-dir {} --node second -c 'actors --kind kubelet'",
                        cluster.data("first").string()));
    return shown.code == 0 && shown.output.find("second") != std::string::npos &&
           shown.output.find("first") == std::string::npos;
  }));
  machine joined{cluster};
  const auto known = cluster.data("machine") / "join/cluster.json";
  CHECK(eventually([&] { return read_file(known).find("second/127.0.0.1") != std::string::npos; }));

  // Every control plane can reach the containers of each machine.
  for (const auto* where : {"first", "second", "machine"})
    REQUIRE(to_first.request("POST", pods, pod_json(where, where), json).status == 201);
  for (const auto* where : {"first", "second", "machine"}) {
    CHECK(eventually([&] { return runs(to_second, where); }));
    const auto log = pods + "/" + where + "/log";
    CHECK(eventually([&] { return has(to_first, log, fmt::format("this is {}", where)); }));
    CHECK(eventually([&] { return has(to_second, log, fmt::format("this is {}", where)); }));
  }

  // How long a new pod takes on this machine without a failure.
  const auto posted = std::chrono::steady_clock::now();
  REQUIRE(to_first.request("POST", pods, pod_json("usual", "machine"), json).status == 201);
  CHECK(eventually([&] { return runs(to_second, "usual"); }));
  const auto usual = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - posted);
  REQUIRE(eventually([&] { return has(to_second, pods + "/machine", "\"ready\":true"); }));
  const auto before = to_second.request("GET", pods + "/machine").body;
  cluster.first->signal(SIGKILL);
  REQUIRE(cluster.first->wait(60s));
  const auto killed = std::chrono::steady_clock::now();
  REQUIRE(to_second.request("POST", pods, pod_json("late", "machine"), json).status == 201);
  CHECK(eventually([&] { return runs(to_second, "late"); },
                   std::max<std::chrono::milliseconds>(5s, 10 * usual)));
  fmt::print("failover: a new pod of a machine runs {} ms after the death of its control plane\n",
             (std::chrono::steady_clock::now() - killed) / 1ms);
  CHECK(has(to_second, pods + "/machine/log", "this is machine"));
  CHECK_FALSE(joined.program->wait(0ms));
  // The pod is still the same.
  const auto status = before.substr(before.find("\"containerStatuses\""));
  CHECK(to_second.request("GET", pods + "/machine").body.find(status) != std::string::npos);
  // The dead one is removed.
  CHECK(eventually([&] {
    return to_second.request("GET", endpoints).body.find("first/127.0.0.1") == std::string::npos;
  }));
}

TEST_CASE("a token of one control plane is accepted by another, also when the first is gone",
          "[etcd][planes]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  two_planes cluster;
  http_client to_first{cluster.first->where()}, to_second{cluster.second->where()};
  REQUIRE(to_first.request("POST", accounts, R"({"metadata":{"name":"robot"}})", json).status ==
          201);
  const auto of_first = robot_token(to_first), of_second = robot_token(to_second);
  check_accepts(*cluster.first, of_second);
  check_accepts(*cluster.second, of_first);
  // With another end of its signature.
  auto forged = of_first;
  forged.replace(forged.size() - 8, 8, forged.ends_with("AAAAAAAA") ? "BBBBBBBB" : "AAAAAAAA");
  CHECK_THAT(to_second
                 .request("POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                          fmt::format(R"({{"spec":{{"token":"{}"}}}})", forged), json)
                 .body,
             !Contains("\"authenticated\":true"));

  cluster.first->signal(SIGKILL);
  REQUIRE(cluster.first->wait(60s));
  check_accepts(*cluster.second, of_first);
  check_accepts(*cluster.second, robot_token(to_second));
}

TEST_CASE("a control plane leaves, and the others are all that is known", "[etcd][planes]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  two_planes cluster;
  http_client to_first{cluster.first->where()};
  REQUIRE(eventually([&] { return has(to_first, endpoints, "second/127.0.0.1"); }));
  REQUIRE(eventually([&] { return has(to_first, "/api/v1/nodes/second", "\"type\":\"Ready\""); }));
  const auto left = run(fmt::format("leave --data-dir {}", cluster.data("second").string()));
  CHECK_THAT(left.output, Contains("left"));
  CHECK(left.code == 0);
  CHECK(cluster.second->wait(60s) == 0);
  CHECK(has(to_first, endpoints, "first/127.0.0.1"));
  CHECK(eventually([&] { return !has(to_first, endpoints, "second/127.0.0.1"); }));
  CHECK(to_first.request("GET", "/api/v1/nodes/second").status == 404);
  CHECK_FALSE(fs::exists(cluster.data("second") / "pki"));
  CHECK_FALSE(fs::exists(cluster.data("second") / "store"));
  const auto last = run(fmt::format("leave --data-dir {} --force", cluster.data("first").string()));
  CHECK(last.code == 1);
  CHECK_THAT(last.output, Contains("the only control plane"));
  CHECK(to_first.request("GET", "/api/v1/nodes/first").status == 200);
}

TEST_CASE("a control plane that cannot join says why and leaves nothing behind", "[etcd][planes]") {
  if (const auto why = etcd_server::missing(); !why.empty()) return skip(why);
  const scratch_folder folder;
  const etcd_server etcd;
  const auto data = folder.path() / "first", other = folder.path() / "other";
  const node first{
      data, {"--node-name", "first", "--store", "etcd", "--etcd-endpoints", etcd.endpoint()}};
  const auto line = token_line(data, "--control-plane");
  const auto join = [&](std::vector<std::string> words, const std::string& name = "other") {
    words.insert(words.end(), {"--data-dir", other.string(), "--node-name", name, "--runtime",
                               "process", "--listen", "127.0.0.1:0"});
    const auto done = run(joined(words));
    CHECK(done.code == 1);
    for (const auto* each : {"pki", "store", "etcd", "joining", "join", "control-plane.json"})
      CHECK_FALSE(fs::exists(other / each));
    return done.output;
  };

  auto wrong_key = line;
  wrong_key.back() = std::string(64, 'a');
  CHECK_THAT(join(wrong_key), Contains("--certificate-key does not belong to this token"));
  wrong_key.back() = "short";
  CHECK_THAT(join(wrong_key), Contains("expected 64 hexadecimal digits"));
  CHECK_THAT(join(line, "first"), Contains("has a node first already"));
  auto machines_line = token_line(data);
  machines_line.insert(machines_line.end(),
                       {"--control-plane", "--certificate-key", std::string(64, 'a')});
  CHECK_THAT(join(machines_line), Contains("this token makes no control planes"));

  // The keys of another cluster, in the folder that is used without --data-dir, are not sealed.
  fs::create_directories(folder.path() / "var/pki");
  for (const auto* each : {"ca.crt", "ca.key", "sa.key"})
    folder.write(std::string{"var/pki/"} + each, "of another cluster");
  const auto foreign = shell(fmt::format(
      "cd {} && {} token create --control-plane --kubeconfig {} 2>&1", folder.path().string(),
      TROUPE_BINARY_DIR "/troupe", (data / "admin.kubeconfig").string()));
  CHECK(foreign.code == 1);
  CHECK_THAT(foreign.output, Contains("var/pki/ca.crt is not the authority of the cluster at"));

  // The sealed keys are deleted with their token.
  http_client api{first.where()};
  const auto id = line[3].substr(0, line[3].find('.'));
  const auto secret = "/api/v1/namespaces/kube-system/secrets/control-plane-" + id;
  CHECK(api.request("GET", secret).status == 200);
  CHECK(run(fmt::format("token delete {} --data-dir {}", id, data.string())).code == 0);
  CHECK_THAT(join(line), Contains("the token is unknown or expired"));
  CHECK(eventually([&] { return api.request("GET", secret).status == 404; }));
}

TEST_CASE("a control plane with a store of its own makes no others, and does not leave",
          "[planes]") {
  const scratch_folder folder;
  const auto data = folder.path() / "alone";
  const node alone{data, {"--node-name", "alone"}};
  const auto made = run(fmt::format("token create --control-plane --data-dir {}", data.string()));
  CHECK(made.code == 1);
  CHECK_THAT(made.output, Contains("a second one needs a shared etcd"));
  http_client api{alone.where()};
  CHECK_FALSE(has(api, "/api/v1/namespaces/kube-system/secrets", "bootstrap-token"));
  const auto left = run(fmt::format("leave --force --data-dir {}", data.string()));
  CHECK(left.code == 1);
  CHECK_THAT(left.output, Contains("has joined no cluster"));
  CHECK(fs::exists(data / "store"));
}
