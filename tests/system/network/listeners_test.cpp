// The sockets that listen on the machines of a cluster with containers, while a command runs in a
// pod: each must be known, since pods reach those at the machine's addresses.
#include <catch2/catch.hpp>
#include <chrono>
#include <set>
#include <sstream>
#include <string>

#include "system/network/container_cluster.hpp"

using namespace troupe::test;

namespace {

constexpr std::chrono::seconds listening_limit{120};

const char* const listening_pod = R"(apiVersion: v1
kind: Pod
metadata: {name: streams}
spec:
  nodeName: m2
  terminationGracePeriodSeconds: 1
  containers: [{name: c, image: "localhost/tools:1", command: [sleep, "100000"]}]
)";

// "tcp 10.77.0.1:6443 troupe" for each socket. The ports of loopback addresses vary, and no other
// machine or pod reaches them; sockets of the kernel have no program.
std::set<std::string> listeners(const machine& on) {
  std::istringstream lines{
      on.run("ss -Hltnup | awk '{at = $5; if (at ~ /^(127[.]|\\[::1\\])/) sub(/:[0-9]+$/, \":*\", "
             "at); split($7, by, \"\\\"\"); print $1, at, by[2]}'")
          .output};
  std::set<std::string> out;
  for (std::string line; std::getline(lines, line);)
    out.insert(line);
  return out;
}

}  // namespace

TEST_CASE("nothing listens on the machines of a cluster but what is known, also during a command",
          "[network][containers][pod_network]") {
  if (!container_cluster::possible()) return;
  container_cluster cluster{1};
  auto& c = *cluster;
  REQUIRE(c.apply(listening_pod).code == 0);
  REQUIRE(soon(listening_limit, [&] {
    return c.kubectl("get pod streams -o jsonpath={.status.phase}").output == "Running";
  }));
  auto& m1 = c.control();
  // The command runs until its input ends.
  REQUIRE(
      c.kubectl("exec -i streams -- sh -c 'echo begun; cat' < <(while [ ! -e enough ]; do sleep "
                "0.1; done) > begun 2>&1 &")
          .code == 0);
  REQUIRE(soon(listening_limit, [&] { return m1.run("cat begun").output == "begun\n"; }));
  // DNS, and the server of the runtime through which the command's streams go.
  const std::set<std::string> of_every_node{"tcp 10.96.0.10:53 troupe", "udp 10.96.0.10:53 troupe",
                                            "tcp 127.0.0.1:* containerd"};
  CHECK(listeners(c.at(2)) == of_every_node);
  // The API, and the link of joined nodes.
  auto of_control = of_every_node;
  of_control.insert({"tcp 10.77.0.1:6443 troupe", "tcp 10.77.0.1:6444 troupe"});
  CHECK(listeners(m1) == of_control);
  CHECK(m1.run("touch enough").code == 0);
  cluster.delete_pods();
}
