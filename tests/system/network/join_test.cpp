// How machines join a cluster and leave it: with the printed command, and with a reason
// and a remedy if they cannot.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "build_paths.hpp"
#include "support/sanitizer.hpp"
#include "system/network/joined_cluster.hpp"
#include "system/network/pod_machine.hpp"
#include "system/node.hpp"

namespace fs = std::filesystem;
using namespace troupe::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

constexpr std::chrono::milliseconds converge_limit{120'000};

// The words of a command, with the value after `flag` replaced.
std::vector<std::string> with(std::vector<std::string> words, const std::string& flag,
                              const std::string& value) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == flag) words[i + 1] = value;
  return words;
}

// The number of refused connections to the listener of nodes, for any reason, from /metrics.
double refused_at_link(const machine& control) {
  std::istringstream lines{client_on(control)->request("GET", "/metrics").body};
  double all = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("troupe_link_refused_total"))
      all += std::stod(line.substr(line.rfind(' ')));
  return all;
}

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

struct refusal {
  process_result said;
  std::chrono::milliseconds took;
};

// Runs `troupe <words>`, which must not join, on a new machine whose clock is ahead by this
// time.
refusal refused(const machine& on, std::vector<std::string> words,
                std::chrono::seconds ahead = 0s) {
  if (std::find(words.begin(), words.end(), "--node-name") == words.end())
    words.insert(words.end(), {"--node-name", on.name()});
  std::string command = "timeout 60 ";
  if (ahead != 0s)
    command += "env LD_PRELOAD=" TROUPE_BINARY_DIR "/skewed_clock.so SKEW_SECONDS=" +
               std::to_string(ahead.count()) + " ";
  command += "troupe";
  for (const auto& word : words)
    command += " '" + word + "'";
  const auto begin = std::chrono::steady_clock::now();
  auto said = on.run(command + " --data-dir data");
  const auto took = std::chrono::steady_clock::now() - begin;
  fs::remove_all(on.data());
  return {std::move(said), std::chrono::duration_cast<std::chrono::milliseconds>(took)};
}

// `idle`: the time of a refusal without a request. Others may take four times that on a slow
// machine, besides the limit of `troupe join` (tools/join/defaults.hpp).
void check_refusal(const char* label, const refusal& got, const std::vector<std::string>& parts,
                   std::chrono::milliseconds idle) {
  INFO(label << ", after " << got.took.count() << " ms: " << got.said.output);
  std::cout << "join: " << label << ": " << got.said.output;
  CHECK(got.said.code == 1);
  CHECK(got.took < std::max<std::chrono::milliseconds>(5s, 4'500ms + 4 * idle));
  CHECK_THAT(got.said.output, Catch::StartsWith("troupe: "));
  for (const auto& part : parts)
    CHECK_THAT(got.said.output, Contains(part));
}

}  // namespace

TEST_CASE("machines join by the printed line, run pods, are drained, and leave",
          "[network][join]") {
  if (!network_space::possible()) return;
  const auto begin = std::chrono::steady_clock::now();
  joined_cluster cluster{2, patient()};
  CHECK(soon(converge_limit, [&] { return cluster.what_is_missing().empty(); }));
  const auto took = std::chrono::steady_clock::now() - begin;
  std::cout << "join: three machines are ready after "
            << std::chrono::duration_cast<std::chrono::milliseconds>(took).count() << " ms"
            << std::endl;
  CHECK(cluster.nodes().size() == 3);
  cluster.run_web(6);
  cluster.converge(converge_limit);
  CHECK_FALSE(cluster.containers(cluster.at(2)).empty());
  CHECK_FALSE(cluster.containers(cluster.at(3)).empty());
  for (const auto& pod : cluster.pods()) {
    // It waited for its token, which arrived over the link.
    REQUIRE(pod.spec().volumes_size() == 1);
    CHECK(pod.spec().volumes(0).name().starts_with("kube-api-access-"));
    const auto& node = pod.spec().node_name();
    CHECK(pod.status().pod_ip() == cluster.at(static_cast<unsigned>(node.back() - '0')).address());
  }

  // The token must be neither in a log nor in the output of `ps`.
  const std::regex token{"[a-z0-9]{6}\\.[a-z0-9]{16}"};
  for (const unsigned each : {1U, 2U, 3U}) {
    const auto& one = cluster.at(each);
    CHECK_FALSE(std::regex_search(one.log(), token));
    CHECK_FALSE(
        std::regex_search(read_file("/proc/" + std::to_string(one.id()) + "/cmdline"), token));
  }
  CHECK((fs::status(cluster.at(2).data() / "join/node.key").permissions() &
         ~fs::perms::owner_all) == fs::perms::none);

  // A pod on a joined machine like any other.
  const auto made = cluster.apply(R"(
apiVersion: v1
kind: Pod
metadata: {name: talker}
spec:
  nodeName: m2
  terminationGracePeriodSeconds: 1
  containers:
  - {name: c, image: none, command: [sh, -c, "echo hello from there; exec sleep 1000"]}
)");
  INFO(made.output);
  REQUIRE(made.code == 0);
  CHECK(cluster.kubectl("wait --for=condition=Ready pod/talker --timeout=120s").code == 0);
  CHECK(soon(converge_limit,
             [&] { return cluster.kubectl("logs talker").output == "hello from there\n"; }));
  CHECK(cluster.kubectl("delete pod talker --timeout=120s").code == 0);

  const auto drained = cluster.kubectl("drain m2 --ignore-daemonsets --timeout=120s");
  INFO(drained.output);
  CHECK(drained.code == 0);
  CHECK_THAT(cluster.kubectl("get node m2").output, Contains("SchedulingDisabled"));
  cluster.converge(converge_limit);
  CHECK(cluster.containers(cluster.at(2)).empty());
  CHECK(cluster.kubectl("uncordon m2").code == 0);
  cluster.scale_web(12);
  cluster.converge(converge_limit);
  CHECK_FALSE(cluster.containers(cluster.at(2)).empty());

  const auto left = cluster.at(2).run("troupe leave --data-dir data");
  INFO(left.output);
  CHECK(left.code == 0);
  CHECK(soon(converge_limit, [&] { return !cluster.at(2).runs(); }));
  CHECK(cluster.containers(cluster.at(2)).empty());
  CHECK(soon(converge_limit, [&] { return cluster.nodes().size() == 2; }));
  cluster.converge(converge_limit);
  // It may join again.
  cluster.join(cluster.at(2));
  CHECK(soon(converge_limit, [&] { return cluster.nodes().size() == 3; }));
  cluster.converge(converge_limit);
}

TEST_CASE("nodes with addresses of two families show both, and so do the pods that share them",
          "[network][join]") {
  if (!network_space::possible() || !can_try_ipv6()) return;
  auto flags = patient();
  for (auto* words : {&flags.control, &flags.joined})
    words->insert(words->end(), {"--network-pod-cidrs", "10.42.0.0/16,fd00:42::/56"});
  flags.own = [](machine& one) -> std::vector<std::string> {
    const auto second = "fd00:77::" + std::to_string(one.number());
    one.run("ip address add " + second + "/64 dev net0 nodad");
    // The first one is found, the other one is named.
    if (one.number() == 1) return {};
    return {"--kubelet-second-address", "FD00:77:0::" + std::to_string(one.number())};
  };
  joined_cluster cluster{1, flags};
  cluster.run_web(2);
  cluster.converge(converge_limit);
  const auto texts = [](const auto& all, const auto& text) {
    std::vector<std::string> out;
    for (const auto& each : all)
      out.push_back(text(each));
    return out;
  };
  std::map<std::string, std::vector<std::string>> of_node;
  for (const auto& node : cluster.nodes()) {
    const auto number = node.metadata().name().substr(1);
    of_node[node.metadata().name()] = {"10.77.0." + number, "fd00:77::" + number};
    CHECK(texts(node.status().addresses(),
                [](const auto& each) { return each.type() + " " + each.address(); }) ==
          std::vector<std::string>{"InternalIP 10.77.0." + number, "InternalIP fd00:77::" + number,
                                   "Hostname m" + number});
  }
  const auto pods = cluster.pods();
  CHECK(pods.size() == 2);
  for (const auto& pod : pods) {
    const auto ip = [](const auto& each) { return each.ip(); };
    CHECK(texts(pod.status().host_ips(), ip) == of_node[pod.spec().node_name()]);
    CHECK(texts(pod.status().pod_ips(), ip) == of_node[pod.spec().node_name()]);
  }
}

TEST_CASE("who may not join is told why and what to do, within five seconds", "[network][join]") {
  if (!network_space::possible()) return;
  joined_cluster cluster{1, patient()};
  auto& stranger = cluster.add();
  const auto line = cluster.token_line();
  const auto token = *(std::find(line.begin(), line.end(), "--token") + 1);

  const auto half = refused(stranger, with(line, "--token", "aaaaaa"));
  const auto check = [&](const char* label, const refusal& got,
                         const std::vector<std::string>& parts) {
    check_refusal(label, got, parts, half.took);
  };
  check("half a token", half, {"--token", "ID.SECRET"});
  check("another authority",
        refused(stranger, with(line, "--ca-hash", "sha256:" + std::string(64, '0'))),
        {"--ca-hash", "token create"});
  check("no token of ours",
        refused(stranger, with(line, "--token", "aaaaaa." + std::string(16, 'b'))),
        {"token", "troupe token create"});
  check("a wrong secret",
        refused(stranger, with(line, "--token", token.substr(0, 7) + std::string(16, 'b'))),
        {"token", "troupe token create"});
  const auto brief = cluster.token_line("--ttl 1s");
  CHECK(soon(converge_limit, [&] {
    const auto list = cluster.control().run("troupe token list --data-dir data").output;
    return list.find("(over)") != list.npos || list.find(brief[3].substr(0, 6)) == list.npos;
  }));
  check("an expired token", refused(stranger, brief), {"token", "troupe token create"});

  auto elsewhere = line;
  elsewhere[1] = "10.77.0.99:6443";
  check("nobody has that address", refused(stranger, elsewhere), {"10.77.0.99:6443"});
  elsewhere[1] = cluster.control().address() + ":6999";
  check("nobody listens there", refused(stranger, elsewhere), {"6999", "--listen"});
  cluster.network().isolate(stranger.number());
  check("the network says nothing", refused(stranger, line), {"firewall"});
  cluster.network().heal();
  cluster.control().pause();
  check("the control plane stands still", refused(stranger, line), {"says nothing"});
  cluster.control().resume();

  if (sanitized) {
    std::cout << "join: no wrong clock: it is preloaded, and a sanitizer must be first"
              << std::endl;
  } else {
    check("a clock two hours ahead", refused(stranger, line, 2h), {"clock", "NTP"});
    check("a clock two hours behind", refused(stranger, line, -2h), {"clock", "NTP"});
  }

  auto named = line;
  named.insert(named.end(), {"--node-name", cluster.at(2).name()});
  check("the name is taken", refused(stranger, named), {"m2", "--node-name"});
  CHECK(cluster.nodes().size() == 2);
}

TEST_CASE("strangers at the port that nodes call cost a closed connection", "[network][join]") {
  if (!network_space::possible()) return;
  joined_cluster cluster{1, patient()};
  cluster.run_web(2);
  cluster.converge(converge_limit);
  const auto& control = cluster.control();
  const auto before = resident_kb(control.id());
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<wire>> open;
  auto raw = admin_of(control);
  raw.tls = false;
  raw.port = 6444;
  const auto connect = [&] {
    control.space().run([&] { open.push_back(std::make_unique<wire>(raw)); });
    return open.back().get();
  };
  for (int i = 0; i < 200; ++i) {
    connect();                            // sends nothing
    connect()->send("\x16\x03\x01\x02");  // an incomplete handshake
    connect()->send(std::string(200, static_cast<char>(i)));
    connect()->send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    connect()->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  // A proper TLS handshake, but without a certificate, or with one that is not a node's.
  auto nobody = admin_of(control);
  nobody.port = 6444;
  nobody.protocols = {"h2"};
  auto admin = nobody;
  nobody.certificate.clear();
  for (const auto& who : {nobody, admin}) {
    bool closed = false;
    control.space().run([&] {
      try {
        wire through{who};
        through.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string("\0\0\0\4\0\0\0\0\0", 9) +
                     std::string(5'000, '\xff'));
        closed = through.wait_for_end();
      } catch (const std::runtime_error&) {
        closed = true;
      }
    });
    CHECK(closed);
  }
  const auto after = resident_kb(control.id());
  std::cout << "join: 1,000 strangers at the link: " << before / 1024 << " MB -> " << after / 1024
            << " MB resident" << std::endl;
  if (memory_is_the_programs()) CHECK(after < before + 60'000);
  // Each is counted, but they cause only a few log lines.
  CHECK(soon(converge_limit, [&] { return refused_at_link(control) >= 1'000; }));
  const auto told = count_of("\"link: ", control.log()) + count_of("\\\"link: ", control.log());
  CHECK(told >= 1);
  // One line of each kind in 10 s (refusal_line_period, refusal_period).
  const auto periods = static_cast<std::size_t>((std::chrono::steady_clock::now() - begin) / 10s);
  CHECK(told < 50 + 10 * periods);
  CHECK(count_of("the link rejected a connection", control.log()) < 5 + periods);
  cluster.scale_web(6);
  cluster.converge(converge_limit);
  CHECK(cluster.is_ready(cluster.at(2)));
}
