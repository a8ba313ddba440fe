// What remains of a pod when the programs below it are killed: its node, its container runtime,
// both at once, the process of its sandbox.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include "support/programs/eventually.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/containers/container_machine.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

const char* const counter = R"(apiVersion: v1
kind: Pod
metadata: {name: counter}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: localhost/tools:1
    command: [sh, -c, "i=0; while :; do i=$((i+1)); echo $i; sleep 0.02; done"]
)";

const std::string counter_state =
    "kubectl get pod counter -o jsonpath='{.status.containerStatuses[0].containerID} "
    "{.status.containerStatuses[0].restartCount} {.status.podIP} "
    "{.status.containerStatuses[0].ready}'";

// The first line that is not one more than the line before it.
std::string gap_in(const std::string& log) {
  std::istringstream lines{log};
  int expected = 0;
  for (std::string line; std::getline(lines, line);)
    if (line != std::to_string(++expected)) return fmt::format("{}, not {}", line, expected);
  return expected > 0 ? "" : "no lines";
}

std::string first_word(const std::string& text) {
  return text.substr(0, text.find_first_of(" \n"));
}

}  // namespace

TEST_CASE(
    "a pod outlives its node and its runtime without a gap in its log, and gets a new sandbox",
    "[containers]") {
  if (const auto lacks = private_containerd::missing()) return skip(*lacks);
  const scratch_folder folder;
  container_machine on{folder.path(), "10.213.19.0/24"};
  write_file(on.home() / "counter.yaml", counter);
  REQUIRE(on.run("kubectl create -f counter.yaml").code == 0);
  REQUIRE(on.until(counter_state + " | grep -o 'true$'", "true\n") == "true\n");
  const auto before = on.run(counter_state).output;
  const auto last_number = [&] {
    return std::atoi(on.run("kubectl logs counter --tail=1").output.c_str());
  };
  const auto grows = [&] {
    const auto first = last_number();
    return eventually([&] { return last_number() > first; }, on.limit);
  };
  REQUIRE(grows());

  for (const std::string killed : {"node", "runtime", "runtime and node", "node and runtime"}) {
    CAPTURE(killed);
    const bool of_node = killed != "runtime", of_runtime = killed != "node";
    if (of_node) on.kill();
    if (of_runtime) on.runtime.kill();
    // Both come back in the order of their names.
    if (killed == "node and runtime") on.start();
    if (of_runtime) on.runtime.start();
    if (of_node && killed != "node and runtime") on.start();
    CHECK(on.until(counter_state, before) == before);
    CHECK(grows());
    CHECK(gap_in(on.run("kubectl logs counter").output) == "");
  }

  const auto sandboxes = [&] {
    return on.runtime.ctr("containers ls -q 'labels.\"io.cri-containerd.kind\"==sandbox'");
  };
  const auto sandbox = first_word(sandboxes());
  REQUIRE_FALSE(sandbox.empty());
  const auto pause =
      std::atoi(on.runtime.ctr("tasks ls | awk '$1 == \"" + sandbox + "\" {print $2}'").c_str());
  REQUIRE(pause > 1);
  REQUIRE(::kill(pause, SIGKILL) == 0);
  std::string now;
  CHECK(eventually(
      [&] {
        now = on.run(counter_state).output;
        return first_word(now) != first_word(before) && now.ends_with(" true");
      },
      on.limit));
  INFO(before << ", then " << now);
  CHECK(now.find(" 1 10.213.19.") != std::string::npos);
  CHECK(on.until("kubectl get events --field-selector reason=SandboxChanged -o name | wc -l",
                 "1\n") == "1\n");
  CHECK(grows());
  CHECK(gap_in(on.run("kubectl logs counter").output) == "");
  CHECK(gap_in(on.run("kubectl logs counter --previous").output) == "");
  CHECK(on.run("kubectl exec counter -- grep -c 10.213.19. /etc/hosts").output == "1\n");
  CHECK(on.run("kubectl delete pod counter").code == 0);
  CHECK(on.runtime.ctr("containers ls -q") == "");
}
