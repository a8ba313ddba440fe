// A machine that is expelled from its cluster: all its containers end.
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <future>
#include <memory>

#include "actors/kubelet/machine.hpp"
#include "actors/kubelet/runtimes/process/process_runtime.hpp"
#include "actors/link/node_gateway.hpp"
#include "build_paths.hpp"

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

// The argument of this test's containers; no other process has it.
std::string long_sleep() {
  return "300." + std::to_string(::getpid());
}

int sleepers() {
  int count = 0;
  std::error_code problem;
  for (const auto& each : std::filesystem::directory_iterator{"/proc", problem}) {
    const auto line = text_of(each.path() / "cmdline");
    count += line.starts_with("sleep") && line.find(long_sleep()) != line.npos ? 1 : 0;
  }
  return count;
}

// Ignores SIGTERM, with a grace longer than any test and a slow hook.
std::string stubborn_pod(const std::string& name) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         "}\nspec:\n  terminationGracePeriodSeconds: 600\n  containers:\n  - name: c\n"
         "    image: x\n    command: [sh, -c, \"trap '' TERM; exec sleep " +
         long_sleep() +
         "\"]\n    lifecycle: {preStop: {exec: {command: [sh, -c, \"exec sleep 600\"]}}}\n";
}

std::shared_ptr<std::atomic<int>> end_pods(machine& here) {
  auto answers = std::make_shared<std::atomic<int>>(0);
  here.system().request<actors::pods_ended>(
      here.system().actors().find("kubelet", "here"), actors::end_pods{}, 60s,
      [answers](auto reply) { *answers += reply ? 1 : 1'000; });
  return answers;
}

bool answered(const std::shared_ptr<std::atomic<int>>& answers) {
  return machine::wait([&] { return *answers != 0; });
}

}  // namespace

TEST_CASE("an expelled machine ends its pods at once and accepts no others", "[kubelet]") {
  machine here;
  here.start_kubelet();
  for (const auto* name : {"a", "b"})
    here.create(stubborn_pod(name));
  REQUIRE(machine::wait([&] { return here.runs("a") && here.runs("b") && sleepers() == 2; }));

  // Asked again while the first request is pending, as by a link that is rejected again.
  const auto first = end_pods(here);
  const auto second = end_pods(here);
  REQUIRE(answered(first));
  CHECK(sleepers() == 0);
  REQUIRE(answered(second));
  CHECK(*first == 1);
  CHECK(*second == 1);
  CHECK(std::filesystem::is_empty(here.root() / "pods"));
  // The objects in the cluster are not changed.
  CHECK_FALSE(here.find("a")->meta().has_deletion_timestamp());

  const auto heard = [&] {
    const auto kubelet = here.system().actors().find("kubelet", "here");
    return here.system().actors().find(kubelet.id())->received;
  };
  const auto before = heard();
  here.create(stubborn_pod("late"));
  REQUIRE(machine::wait([&] { return heard() > before; }));
  const auto third = end_pods(here);
  REQUIRE(answered(third));
  CHECK(*third == 1);
  CHECK(here.status("late").phase() == "Pending");
  CHECK(sleepers() == 0);
  CHECK(std::filesystem::is_empty(here.root() / "pods"));
}

TEST_CASE("a machine that is expelled ends its pods though its kubelet crashes meanwhile",
          "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(stubborn_pod("a"));
  REQUIRE(machine::wait([&] { return here.runs("a") && sleepers() == 1; }));
  std::promise<bool> ended;
  here.crash_kubelet([&] {
    actors::end_all_pods(here.system(), here.system().actors().find("kubelet", "here"), 60s,
                         [&](bool all) { ended.set_value(all); });
  });
  CHECK(ended.get_future().get());
  CHECK(sleepers() == 0);
  CHECK(std::filesystem::is_empty(here.root() / "pods"));
}

TEST_CASE("a machine that was expelled while it was off ends the pods that still run",
          "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(stubborn_pod("a"));
  REQUIRE(machine::wait([&] { return here.runs("a") && sleepers() == 1; }));
  here.stop_kubelet();
  CHECK(sleepers() == 1);

  // This kubelet never gets a list of pods: its link is rejected from the first call on.
  const auto nobody = actors::spawn_gateway(here.system(), {.node = "here"});
  actors::kubelet_options options;
  options.node = "here";
  options.root_dir = here.root();
  options.jobs = actors::make_kubelet_jobs();
  options.containers = std::make_shared<actors::process_runtime>(
      actors::process_runtime_options{.root_dir = options.root_dir,
                                      .jobs = options.jobs,
                                      .program = TROUPE_BINARY_DIR "/container_shim"});
  actors::spawn_kubelet(here.system(), {nobody, nobody, nobody}, std::move(options));
  const auto answers = end_pods(here);
  REQUIRE(answered(answers));
  CHECK(*answers == 1);
  CHECK(sleepers() == 0);
  CHECK(std::filesystem::is_empty(here.root() / "pods"));
}

}  // namespace troupe::test
