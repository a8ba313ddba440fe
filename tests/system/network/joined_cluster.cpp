#include "system/network/joined_cluster.hpp"

#include <poll.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>
#include <stdexcept>

#include "api/codec/codec.hpp"
#include "system/kubectl.hpp"
#include "system/node.hpp"

namespace troupe::test {

using api::core::v1::Node;
using api::core::v1::NodeList;
using api::core::v1::Pod;
using api::core::v1::PodList;

namespace {

constexpr std::uint16_t api_port = 6443;
constexpr std::chrono::milliseconds answer_limit{60'000};
constexpr int look_ms = 50;
const std::vector<std::string> container_command{"sleep", "100077"};

const char* const web = R"(
apiVersion: v1
kind: ReplicationController
metadata: {name: web}
spec:
  replicas: REPLICAS
  selector: {app: web}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      tolerations:
      - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 1}
      - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 1}
      containers:
      - {name: c, image: none, command: [sleep, "100077"]}
)";

template <class Conditions>
bool has(const Conditions& conditions, std::string_view type) {
  return std::any_of(conditions.begin(), conditions.end(), [&](const auto& each) {
    return each.type() == type && each.status() == "True";
  });
}

}  // namespace

bool soon(std::chrono::milliseconds limit, const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::poll(nullptr, 0, look_ms);
  }
  return true;
}

cluster_flags quick() {
  return {{"--minions-grace-period", "4s", "--kubelet-lease-renew", "1s"},
          {"--kubelet-lease-renew", "1s"}};
}

cluster_flags patient() {
  auto out = quick();
  out.control[1] = "40s";
  return out;
}

wire_options admin_of(const machine& control) {
  wire_options out;
  out.host = control.address();
  out.port = api_port;
  out.authority = read_file(control.data() / "pki/ca.crt");
  out.certificate = read_file(control.data() / "pki/admin.crt");
  out.private_key = read_file(control.data() / "pki/admin.key");
  out.timeout = answer_limit;
  return out;
}

std::unique_ptr<http_client> client_on(const machine& control, std::chrono::milliseconds timeout) {
  auto access = admin_of(control);
  access.timeout = timeout;
  std::unique_ptr<http_client> out;
  control.space().run([&] { out = std::make_unique<http_client>(access); });
  return out;
}

joined_cluster::joined_cluster(unsigned joined, const cluster_flags& flags) : flags_{flags} {
  auto& first = add();
  std::vector<std::string> words{"node", "--listen", first.address() + ":6443", "--node-name",
                                 first.name()};
  words.insert(words.end(), flags_.control.begin(), flags_.control.end());
  add_own(first, words);
  first.start(words);
  for (unsigned i = 0; i < joined; ++i)
    join(add());
}

machine& joined_cluster::add() {
  const auto number = static_cast<virtual_switch::port>(machines_.size() + 1);
  machines_.push_back(std::make_unique<machine>(network_, number, folder()));
  return *machines_.back();
}

std::vector<std::string> joined_cluster::token_line(const std::string& flags) {
  const auto said = control().run("troupe token create --data-dir data " + flags);
  std::istringstream words{said.output};
  std::vector<std::string> out;
  for (std::string word; words >> word;)
    out.push_back(word);
  if (said.code != 0 || out.size() < 2 || out[0] != "troupe" || out[1] != "join")
    throw std::runtime_error{"troupe token create: " + said.output};
  out.erase(out.begin());
  return out;
}

void joined_cluster::join(machine& one) {
  auto words = token_line();
  words.insert(words.end(), {"--node-name", one.name()});
  words.insert(words.end(), flags_.joined.begin(), flags_.joined.end());
  add_own(one, words);
  one.start(words);
}

void joined_cluster::add_own(machine& one, std::vector<std::string>& words) const {
  if (!flags_.own) return;
  const auto more = flags_.own(one);
  words.insert(words.end(), more.begin(), more.end());
}

// -- as a user ------------------------------------------------------------------------------------

process_result joined_cluster::kubectl(const std::string& words) {
  static const auto newest = kubectls().back().path;
  return control().run("export KUBECONFIG=data/admin.kubeconfig; " + newest + " " + words);
}

process_result joined_cluster::apply(const std::string& yaml) {
  const auto file = folder() / "apply.yaml";
  write_file(file, yaml);
  return kubectl("apply -f " + file.string());
}

void joined_cluster::run_web(int replicas) {
  std::string text = web;
  text.replace(text.find("REPLICAS"), 8, std::to_string(replicas));
  const auto made = apply(text);
  INFO(made.output);
  REQUIRE(made.code == 0);
  replicas_ = replicas;
}

void joined_cluster::scale_web(int replicas) {
  const auto scaled = kubectl("scale rc web --replicas=" + std::to_string(replicas));
  INFO(scaled.output);
  REQUIRE(scaled.code == 0);
  replicas_ = replicas;
}

// -- looking --------------------------------------------------------------------------------------

template <class List>
List joined_cluster::list(const std::string& path) {
  const auto answer = client_on(control())->get(path);
  if (answer.status != 200) throw std::runtime_error{path + ": " + answer.body};
  List out;
  // As large as the cluster: the size limits of request bodies do not apply to responses.
  api::decode_options options;
  options.size_limit_bytes = answer.body.size();
  options.memory_limit_bytes = answer.body.size() * 20;
  if (!api::decode_into(answer.body, api::media::json, out, options))
    throw std::runtime_error{path + " cannot be read"};
  return out;
}

std::vector<Pod> joined_cluster::pods() {
  const auto found = list<PodList>("/api/v1/namespaces/default/pods?labelSelector=app%3Dweb");
  return {found.items().begin(), found.items().end()};
}

std::vector<Node> joined_cluster::nodes() {
  const auto found = list<NodeList>("/api/v1/nodes");
  return {found.items().begin(), found.items().end()};
}

bool joined_cluster::is_ready(const machine& one) {
  const auto all = nodes();
  return std::any_of(all.begin(), all.end(), [&](const Node& each) {
    return each.metadata().name() == one.name() && has(each.status().conditions(), "Ready");
  });
}

std::set<pid_t> joined_cluster::containers(machine& on) const {
  return on.space().processes(container_command);
}

std::string joined_cluster::what_is_missing() try {
  std::set<std::string> names;
  for (const auto& each : nodes()) {
    if (!has(each.status().conditions(), "Ready")) return each.metadata().name() + " is not ready";
    names.insert(each.metadata().name());
  }
  for (const auto& each : machines_)
    if (each->runs() && !names.contains(each->name())) return each->name() + " is no node";
  std::map<std::string, std::size_t> wanted;  // pods by node
  const auto all = pods();
  if (std::cmp_not_equal(all.size(), replicas_)) return std::to_string(all.size()) + " pods";
  for (const auto& each : all) {
    const auto& name = each.metadata().name();
    if (each.metadata().has_deletion_timestamp()) return name + " is still to go";
    if (!has(each.status().conditions(), "Ready"))
      return name + " on " + each.spec().node_name() + " is not ready";
    ++wanted[each.spec().node_name()];
  }
  for (const auto& each : machines_) {
    const auto running = containers(*each).size();
    if (running != wanted[each->name()])
      return std::to_string(running) + " containers on " + each->name() + " for " +
             std::to_string(wanted[each->name()]) + " pods";
  }
  return {};
} catch (const std::runtime_error& problem) {
  return problem.what();
}

std::chrono::milliseconds joined_cluster::converge(std::chrono::milliseconds limit) {
  const auto begin = std::chrono::steady_clock::now();
  std::string missing;
  const bool done = soon(limit, [&] { return (missing = what_is_missing()).empty(); });
  if (!done) {
    for (const auto& each : machines_)
      missing += "\n" + each->name() + ": " + last_part(each->log());
    FAIL_CHECK(missing);
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               begin);
}

}  // namespace troupe::test
