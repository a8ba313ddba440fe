// The measured usage of real containers: one that computes and holds memory, in two processes.
#include "actors/kubelet/runtimes/process/container_usage.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <future>

#include "actors/kubelet/machine.hpp"
#include "actors/kubelet/usage/usage_rates.hpp"
#include "support/skip.hpp"

namespace troupe::test {

using actors::cgroup_tree;
using actors::container_counters;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t held_bytes = 24u << 20;

// `tail` holds a line of 24 MiB; the shell computes forever.
const std::string worker = R"(
apiVersion: v1
kind: Pod
metadata: {name: worker}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: busy
    image: none
    command:
    - sh
    - -c
    - "{ head -c 25165824 /dev/zero; sleep 1000; } | tail -n 1 & while :; do :; done"
  - {name: idle, image: none, command: [sleep, "1000"]}
)";

std::optional<container_counters> counters_of(const machine& here, const cgroup_tree& groups,
                                              const std::string& name) {
  for (auto& each : actors::measure_containers(here.root(), groups))
    if (each.container == name) return each;
  return std::nullopt;
}

// Whether both containers of the worker run.
bool runs_whole(const machine& here) {
  const auto all = here.status("worker").container_statuses();
  return all.size() == 2 && std::all_of(all.begin(), all.end(), [](const auto& each) {
           return each.state().has_running();
         });
}

// The rate between two readings; some processor time must have been used and all of the memory be
// held, within `machine::wait`.
void check_measured(const machine& here, const cgroup_tree& groups) {
  std::optional<container_counters> first;
  REQUIRE(machine::wait([&] {
    first = counters_of(here, groups, "busy");
    return first && first->counters.memory_bytes >= held_bytes;
  }));
  CHECK(first->pod_uid == here.find("worker")->meta().uid());
  CHECK(first->id == here.status("worker").container_statuses(0).container_id());
  REQUIRE(first->started);
  CHECK(*first->started < first->counters.at);
  std::optional<container_counters> second;
  std::optional<actors::resource_usage> figure;
  REQUIRE(machine::wait([&] {
    second = counters_of(here, groups, "busy");
    figure = second ? actors::usage_between(first->counters, second->counters) : std::nullopt;
    return figure && figure->cpu_nano > 20'000'000;
  }));
  CHECK(figure->memory_bytes >= held_bytes);
  CHECK(figure->memory_bytes < 8 * held_bytes);
  const auto idle = counters_of(here, groups, "idle");
  REQUIRE(idle);
  CHECK(idle->counters.memory_bytes < held_bytes);
  CHECK(idle->counters.cpu_ns < second->counters.cpu_ns);
}

}  // namespace

TEST_CASE("a container is measured by its control group", "[kubelet]") {
  const auto groups = cgroup_tree::find();
  if (!groups.keeps_limits()) {
    skip(groups.about());
    return;
  }
  machine here;
  here.start_kubelet();
  here.create(worker);
  REQUIRE(machine::wait([&] { return runs_whole(here); }));
  check_measured(here, groups);
  const auto uid = here.find("worker")->meta().uid();
  const auto used = groups.usage(uid + "/busy-0");
  CHECK(used.cpu_ns.has_value());
  CHECK(used.memory_bytes.value_or(0) >= held_bytes);
}

TEST_CASE("a container without a control group is measured by its processes", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(worker);
  REQUIRE(machine::wait([&] { return runs_whole(here); }));
  check_measured(here, cgroup_tree{});
}

TEST_CASE("a container that has ended is not measured", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: worker}\nspec:\n"
      "  restartPolicy: Never\n"
      "  containers: [{name: busy, image: none, command: [\"true\"]}]\n");
  REQUIRE(machine::wait([&] { return here.ended("worker"); }));
  CHECK(actors::measure_containers(here.root(), cgroup_tree{}).empty());
}

TEST_CASE("a kubelet reports the usage of its machine and its containers", "[kubelet]") {
  machine here;
  here.start_kubelet();
  here.create(worker);
  REQUIRE(machine::wait([&] { return runs_whole(here); }));
  runtime::actor_ref meter;
  here.system().actors().each([&](const runtime::actor_info& each) {
    if (each.kind == actors::usage_meter_kind) meter = here.system().actors().reference(each.id);
  });
  REQUIRE(static_cast<bool>(meter));
  const auto answer = std::make_shared<std::promise<actors::node_usage>>();
  here.system().request<actors::node_usage>(
      meter, actors::measure_usage{}, 60s, [answer](const auto& usage) {
        answer->set_value(usage ? **usage : actors::node_usage{.problem = "no answer"});
      });
  const auto usage = answer->get_future().get();
  CHECK(usage.problem.empty());
  REQUIRE(usage.machine);
  CHECK(usage.machine->memory_bytes > held_bytes);
  CHECK(usage.machine->window > 0s);
  REQUIRE(usage.containers.size() == 2);
  const auto uid = here.find("worker")->meta().uid();
  for (const auto& each : usage.containers)
    CHECK(each.pod_uid == uid);
}

}  // namespace troupe::test
