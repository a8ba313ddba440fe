// When a machine runs short of a resource, and which pod is evicted.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <random>

#include "actors/core/condition.hpp"
#include "actors/kubelet/fake_runtime.hpp"
#include "actors/kubelet/machine.hpp"
#include "actors/kubelet/pressure/pressure_reader.hpp"
#include "actors/kubelet/pressure/pressure_rules.hpp"
#include "actors/room_log.hpp"
#include "api/schema/core_node.pb.h"
#include "support/scratch_folder.hpp"
#include "support/seeds.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;
using api::core::v1::Pod;
using test::machine;

namespace {

constexpr std::int64_t mib = 1 << 20;

node_supplies plenty() {
  return {.memory = {8'000 * mib, 16'000 * mib},
          .disk = {50'000 * mib, 100'000 * mib},
          .inodes = {900'000, 1'000'000},
          .pids = {30'000, 32'768}};
}

std::vector<std::string> order_of(std::vector<pod_consumption> pods, shortage of) {
  rank_for_eviction(pods, of);
  std::vector<std::string> uids;
  for (const auto& pod : pods)
    uids.push_back(pod.uid);
  return uids;
}

}  // namespace

TEST_CASE("a threshold is passed when less is left than it says", "[kubelet]") {
  const auto resources = [](const node_supplies& supplies, eviction_thresholds thresholds = {}) {
    std::string names;
    for (const auto& each : passed_thresholds(supplies, thresholds))
      names += each.resource + ' ';
    return names;
  };
  CHECK(resources(plenty()).empty());
  CHECK(resources({}).empty());  // all is unknown
  auto less = plenty();
  less.memory.left = 100 * mib;
  CHECK(resources(less).empty());
  less.memory.left = 100 * mib - 1;
  CHECK(resources(less) == "memory ");
  less.inodes.left = 49'999;
  CHECK(resources(less) == "memory inodes ");
  less.disk.left = 9'999 * mib;
  CHECK(resources(less) == "memory ephemeral-storage ");
  less.pids.left = 1'634;
  CHECK(resources(less) == "memory ephemeral-storage pids ");
  CHECK(resources(less, {.pids_percent = 0}) == "memory ephemeral-storage ");
  const auto failure = eviction_failure(passed_thresholds(less, {}).front(), 1min);
  CHECK(failure.reason == "Evicted");
  CHECK(failure.message ==
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 104857599. ");
  CHECK(failure.grace == kubelet_defaults::eviction_grace);
}

TEST_CASE("an eviction has upstream's name of its threshold", "[kubelet]") {
  const auto signal = [](shortage of, const std::string& resource,
                         node_disk disk = node_disk::pods) {
    passed_threshold passed;
    passed.of = of;
    passed.resource = resource;
    passed.disk = disk;
    return std::string{signal_of(passed)};
  };
  CHECK(signal(shortage::memory, "memory") == "memory.available");
  CHECK(signal(shortage::disk, "ephemeral-storage") == "nodefs.available");
  CHECK(signal(shortage::disk, inodes_resource) == "nodefs.inodesFree");
  CHECK(signal(shortage::disk, "ephemeral-storage", node_disk::images) == "imagefs.available");
  CHECK(signal(shortage::disk, inodes_resource, node_disk::images) == "imagefs.inodesFree");
  CHECK(signal(shortage::pids, "pids") == "pid.available");
}

TEST_CASE("the disk of images has thresholds of its own if it is another one", "[kubelet]") {
  auto supplies = plenty();
  CHECK(passed_thresholds(supplies, {}).empty());
  supplies.images = {14'999 * mib, 100'000 * mib};
  supplies.image_inodes = {500, 10'000};
  auto passed = passed_thresholds(supplies, {});
  REQUIRE(passed.size() == 1);
  CHECK((passed[0].of == shortage::disk && passed[0].disk == node_disk::images));
  CHECK((passed[0].quantity == "15000Mi" && passed[0].available == "14999Mi"));
  CHECK(passed_thresholds(supplies, {.image_disk_percent = 14}).empty());
  CHECK(passed_thresholds(supplies, {.image_disk_percent = 0}).empty());
  supplies.images.left = 15'000 * mib;
  CHECK(passed_thresholds(supplies, {}).empty());
  supplies.image_inodes.left = 499;
  passed = passed_thresholds(supplies, {});
  REQUIRE(passed.size() == 1);
  CHECK((passed[0].disk == node_disk::images && passed[0].resource == inodes_resource));
  supplies.disk.left = 9'999 * mib;
  passed = passed_thresholds(supplies, {});
  REQUIRE(passed.size() == 1);
  CHECK(passed[0].disk == node_disk::pods);
}

TEST_CASE("layers of containers use the disk on which they are", "[kubelet]") {
  const test::scratch_folder folder;
  const std::vector<layer_usage> layers{{"one", "a", 700, 7, false}, {"one", "b", 30, 3, true}};
  const auto of = [&](node_disk disk) {
    return usage_of_pods(disk, folder.path(), {"one"}, layers);
  };
  CHECK(of(node_disk::pods).at(0).bytes == 700);
  CHECK(of(node_disk::images).at(0).bytes == 30);
  CHECK(of(node_disk::images).at(0).files == 3);
}

TEST_CASE("a soft threshold is passed before the hard one, and leaves pods their grace",
          "[kubelet]") {
  const eviction_thresholds thresholds{.soft_memory_bytes = 500 * mib, .soft_disk_percent = 20};
  auto less = plenty();
  less.memory.left = 400 * mib;
  less.disk.left = 15'000 * mib;
  auto passed = passed_thresholds(less, thresholds);
  REQUIRE(passed.size() == 2);
  CHECK((passed[0].soft && passed[0].quantity == "500Mi"));
  CHECK((passed[1].soft && passed[1].quantity == "20000Mi"));
  CHECK(eviction_failure(passed[0], 7s).grace == 7s);
  less.memory.left = mib;
  less.disk.left = mib;
  passed = passed_thresholds(less, thresholds);
  REQUIRE(passed.size() == 2);
  CHECK((!passed[0].soft && passed[0].quantity == "100Mi"));
  CHECK((!passed[1].soft && passed[1].quantity == "10000Mi"));
}

TEST_CASE("for a soft threshold pods go when it was passed all the time of its grace",
          "[kubelet]") {
  const auto start = runtime::time_point{} + 1h;
  const passed_threshold soft{.of = shortage::memory, .soft = true}, hard{.of = shortage::memory};
  pressure_memory memory;
  const auto due = [&](const passed_threshold& passed, runtime::time_point at) {
    return memory.demands_eviction(passed, 90s, at);
  };
  memory.observe({soft}, start);
  CHECK(memory.holding(start) == std::set{shortage::memory});  // no new pods at once
  CHECK_FALSE(due(soft, start));
  CHECK(due(hard, start));
  memory.observe({soft}, start + 89s);
  CHECK_FALSE(due(soft, start + 89s));
  CHECK(due(soft, start + 90s));
  memory.observe({}, start + 91s);
  memory.observe({soft}, start + 92s);
  CHECK_FALSE(due(soft, start + 100s));
  CHECK(due(soft, start + 182s));
}

TEST_CASE("pods that exceed their requests are evicted first, then the least important",
          "[kubelet]") {
  const std::vector<pod_consumption> pods{{"modest", 0, 50, 100},
                                          {"greedy", 0, 300, 100},
                                          {"greedier", 0, 400, 100},
                                          {"important", 10, 900, 100},
                                          {"dear", 10, 10, 100}};
  CHECK(order_of(pods, shortage::memory) ==
        std::vector<std::string>{"greedier", "greedy", "important", "modest", "dear"});
  CHECK(order_of(pods, shortage::pids) ==
        std::vector<std::string>{"greedier", "greedy", "modest", "important", "dear"});
}

TEST_CASE("the order of eviction is the same whatever order the pods come in, and obeys its rule",
          "[kubelet]") {
  test::for_each_seed(200, [](std::uint64_t seed) {
    std::mt19937_64 random{seed};
    const auto below = [&](std::int64_t limit) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
    };
    std::vector<pod_consumption> pods;
    for (int i = 0; i < 20; ++i)
      pods.push_back({std::to_string(i), static_cast<std::int32_t>(below(3)), below(5), below(5)});
    auto shuffled = pods;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    CHECK(order_of(pods, shortage::memory) == order_of(shuffled, shortage::memory));
    rank_for_eviction(pods, shortage::memory);
    for (std::size_t i = 1; i < pods.size(); ++i) {
      const auto &first = pods[i - 1], &second = pods[i];
      const auto excess = [](const pod_consumption& pod) { return pod.used - pod.requested; };
      const bool first_exceeds = excess(first) > 0, second_exceeds = excess(second) > 0;
      CHECK(first_exceeds >= second_exceeds);
      if (first_exceeds != second_exceeds) continue;
      CHECK(first.priority <= second.priority);
      if (first.priority == second.priority) CHECK(excess(first) >= excess(second));
    }
  });
}

TEST_CASE("a condition holds on for five minutes after its threshold was last passed",
          "[kubelet]") {
  const auto start = runtime::time_point{} + 1h;
  pressure_memory memory;
  CHECK(memory.holding(start).empty());
  memory.observe({{.of = shortage::disk}}, start);
  CHECK(memory.holding(start + 299s) == std::set{shortage::disk});
  memory.observe({}, start + 299s);
  CHECK(memory.holding(start + 300s).empty());
}

TEST_CASE("a node that is short takes no pods that would make it worse", "[kubelet]") {
  Pod pod;
  const auto rejected = [&](std::set<shortage> holding) {
    return pressure_rejection(pod, holding).has_value();
  };
  pod.mutable_status()->set_qos_class("Burstable");
  CHECK_FALSE(rejected({}));
  CHECK_FALSE(rejected({shortage::memory}));
  CHECK(rejected({shortage::disk}));
  CHECK(rejected({shortage::memory, shortage::disk}));
  pod.mutable_status()->set_qos_class("BestEffort");
  CHECK(rejected({shortage::memory}));
  CHECK(pressure_rejection(pod, {shortage::memory, shortage::pids})->message ==
        "The node had condition: [MemoryPressure PIDPressure]. ");
  auto& toleration = *pod.mutable_spec()->add_tolerations();
  toleration.set_operator_("Exists");
  CHECK_FALSE(rejected({shortage::memory}));
  CHECK(rejected({shortage::disk}));
  pod.mutable_spec()->set_priority(2'000'001'000);
  CHECK_FALSE(rejected({shortage::disk}));
}

TEST_CASE("reserved resources of a machine are not allocatable", "[kubelet]") {
  api::core::v1::NodeStatus status;
  node_facts facts;
  facts.cpus = 2;
  facts.memory_kib = 1024;
  describe_machine(facts, 110, status);
  reserve({}, status);
  CHECK(status.allocatable().at("cpu").string() == "2");
  reserve({.milli_cpu = 300, .memory_bytes = 256 << 10}, status);
  CHECK(status.allocatable().at("cpu").string() == "1700m");
  CHECK(status.allocatable().at("memory").string() == "768Ki");
  CHECK(status.allocatable().at("pods").string() == "110");
  CHECK(status.capacity().at("cpu").string() == "2");
  reserve({.milli_cpu = 3'000, .memory_bytes = 1 << 30}, status);
  CHECK(status.allocatable().at("cpu").string() == "0");
  CHECK(status.allocatable().at("memory").string() == "0");
  // Pods may use the memory below the threshold, but not request it.
  const reserved_resources reserved{
      .milli_cpu = 300, .memory_bytes = 256 << 10, .eviction_memory_bytes = 128 << 10};
  reserve(reserved, status);
  CHECK(status.allocatable().at("memory").string() == "640Ki");
  // The same for the disk; a machine whose disk cannot be read does not count it.
  CHECK(status.capacity().count("ephemeral-storage") == 0);
  facts.disk_bytes = 2 << 20;
  describe_machine(facts, 110, status);
  reserve({.eviction_disk_percent = 10}, status);
  CHECK(status.capacity().at("ephemeral-storage").string() == "2Mi");
  CHECK(status.allocatable().at("ephemeral-storage").string() == "1887442");
  CHECK(limits_of_pods(facts, reserved).milli_cpu == 1'700);
  CHECK(limits_of_pods(facts, reserved).memory_bytes == 768 << 10);
  CHECK(limits_of_pods(facts, {.memory_bytes = 1 << 30}).memory_bytes == 0);
}

TEST_CASE("the remaining resources of a machine are read from its files", "[kubelet]") {
  const auto memory = parse_memory("MemTotal: 1000 kB\nMemFree: 7 kB\nMemAvailable:  400 kB\n");
  CHECK(memory.all == 1'024'000);
  CHECK(memory.left == 409'600);
  CHECK(parse_memory("").all == 0);
  CHECK(parse_pids("0.1 0.2 0.3 2/300 4711", 1'000).left == 700);
  CHECK(parse_pids("0.1 0.2 0.3 2/3000 4711", 1'000).left == 0);
  CHECK(parse_pids("nonsense", 1'000).all == 0);
  CHECK(read_supplies("/tmp", "/tmp").images.all == 0);
  CHECK(read_supplies("/tmp", "/missing").images.all == 0);
  CHECK(read_supplies("/tmp", "/dev").images.all > 0);
  const auto here = read_supplies("/tmp");
  CHECK(here.memory.all > 0);
  CHECK(here.disk.all >= here.disk.left);
  CHECK(here.pids.left > 0);
}

TEST_CASE("a shortage that goes on is one line of the log", "[kubelet]") {
  const test::room_log log;
  machine here;
  here.containers = std::make_shared<test::fake_runtime>();
  const auto looks = std::make_shared<std::atomic<int>>(0);
  here.adjust = [&](kubelet_options& options) {
    options.evictions.emplace();
    options.pressure_period = 5ms;
    options.read_supplies = [looks] {
      auto supplies = plenty();
      supplies.disk.left = 5'000 * mib;
      ++*looks;
      return supplies;
    };
  };
  here.start_kubelet();
  REQUIRE(machine::wait([&] { return *looks > 20; }));
  CHECK(
      log.count("DiskPressure begins: available ephemeral-storage 5000Mi, threshold 10000Mi on the "
                "disk of ") == 1);
  CHECK(log.count("the node is low on ephemeral-storage") == 1);
}

TEST_CASE("a node that runs out of memory reports it, evicts one pod, and rejects similar pods",
          "[kubelet]") {
  const test::room_log log;
  machine here;
  here.containers = std::make_shared<test::fake_runtime>();
  auto short_of_memory = std::make_shared<std::atomic<bool>>(false);
  here.adjust = [&](kubelet_options& options) {
    options.evictions.emplace();
    options.pressure_period = 20ms;
    options.read_supplies = [short_of_memory] {
      auto supplies = plenty();
      if (short_of_memory->exchange(false)) supplies.memory.left = mib;
      return supplies;
    };
  };
  here.start_kubelet();
  const auto create = [&](const std::string& name) {
    // The fake runtime identifies containers by their names only.
    here.create("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
                "}\nspec: {containers: [{name: " + name + ", image: x}]}\n");
  };
  create("one");
  create("two");
  REQUIRE(machine::wait([&] { return here.runs("one") && here.runs("two"); }));
  short_of_memory->store(true);
  REQUIRE(machine::wait([&] { return here.ended("one") || here.ended("two"); }));
  const std::string evicted = here.ended("one") ? "one" : "two";
  const auto status = here.status(evicted);
  CHECK(status.phase() == "Failed");
  CHECK(status.reason() == "Evicted");
  const auto* target = find_condition(status.conditions(), "DisruptionTarget");
  REQUIRE(target != nullptr);
  CHECK(target->reason() == "TerminationByKubelet");
  CHECK(status.message() ==
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 1Mi. ");
  CHECK(here.runs(evicted == "one" ? "two" : "one"));
  CHECK(machine::wait([&] { return here.events(evicted, "Evicted").size() == 1; }));
  const auto text = log.text();
  CHECK_THAT(text,
             Catch::Contains("kubelet: MemoryPressure begins: available memory 1Mi, threshold "
                             "100Mi: new pods are rejected and pods are evicted"));
  CHECK_THAT(text, Catch::Contains("kubelet: pod default/" + evicted +
                                   " is evicted: the node is low on memory (available 1Mi, "
                                   "threshold 100Mi)"));
  create("late");
  REQUIRE(machine::wait([&] { return here.status("late").phase() == "Failed"; }));
  CHECK(here.status("late").message() ==
        "Pod was rejected: The node had condition: [MemoryPressure]. ");
}

TEST_CASE("a node that runs out of process ids evicts the pod with most processes", "[kubelet]") {
  machine here;
  const auto runtime = std::make_shared<test::fake_runtime>();
  const auto few = std::make_shared<std::atomic<bool>>(false);
  here.containers = runtime;
  here.adjust = [&](kubelet_options& options) {
    options.evictions.emplace();
    options.pressure_period = 5ms;
    options.read_supplies = [few, runtime] {
      auto supplies = plenty();
      if (*few && !runtime->was_asked("stop fake://forks-0")) supplies.pids.left = 1'000;
      return supplies;
    };
  };
  here.start_kubelet();
  for (const std::string name : {"calm", "forks", "quiet"}) {
    const auto pod = here.create("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
                                 "}\nspec: {containers: [{name: " + name + ", image: x}]}\n");
    runtime->has_processes(pod->meta().uid(), name == "forks" ? 4'000 : 2);
    REQUIRE(machine::wait([&] { return here.runs(name); }));
  }
  *few = true;
  REQUIRE(machine::wait([&] { return here.ended("forks"); }));
  CHECK(here.status("forks").message() ==
        "The node was low on resource: pids. Threshold quantity: 1635, available: 1000. ");
  CHECK((here.runs("calm") && here.runs("quiet")));
}

TEST_CASE("a pod is evicted for the disk only if the removal of images did not help", "[kubelet]") {
  machine here;
  const auto runtime = std::make_shared<test::fake_runtime>();
  const auto readings = std::make_shared<std::atomic<int>>(0);
  const auto has_images = std::make_shared<std::atomic<bool>>(true);
  const auto full = std::make_shared<std::atomic<bool>>(false);
  here.containers = runtime;
  here.adjust = [&](kubelet_options& options) {
    options.evictions.emplace();
    options.pressure_period = 5ms;
    options.read_supplies = [=] {
      auto supplies = plenty();
      const bool freed = *has_images && runtime->was_asked("free disk");
      if (*full && !freed) supplies.disk.left = mib;
      ++*readings;
      return supplies;
    };
  };
  here.start_kubelet();
  here.create(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: one}\nspec: {containers: [{name: one, "
      "image: x}]}\n");
  REQUIRE(machine::wait([&] { return here.runs("one"); }));
  CHECK_FALSE(runtime->was_asked("free disk"));
  *full = true;
  REQUIRE(machine::wait([&] { return runtime->was_asked("free disk"); }));
  const int seen = *readings;
  REQUIRE(machine::wait([&] { return *readings > seen + 20; }));
  CHECK(here.runs("one"));
  *has_images = false;
  REQUIRE(machine::wait([&] { return here.ended("one"); }));
  CHECK(here.status("one").reason() == "Evicted");
}

TEST_CASE("a full disk of images is freed, then the pod with the largest layer there is evicted",
          "[kubelet]") {
  const test::room_log log;
  machine here;
  const auto runtime = std::make_shared<test::fake_runtime>();
  const auto full = std::make_shared<std::atomic<bool>>(false);
  here.containers = runtime;
  here.adjust = [&](kubelet_options& options) {
    options.evictions.emplace();
    options.pressure_period = 5ms;
    options.read_supplies = [full, runtime] {
      auto supplies = plenty();
      const bool is_full = *full && !runtime->was_asked("stop fake://writes-0");
      supplies.images = {is_full ? mib : 50'000 * mib, 100'000 * mib};
      return supplies;
    };
  };
  here.start_kubelet();
  std::vector<layer_usage> layers;
  for (const std::string name : {"calm", "writes", "elsewhere"}) {
    const auto pod = here.create("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
                                 "}\nspec: {containers: [{name: " + name + ", image: x}]}\n");
    layers.push_back(
        {pod->meta().uid(), name, name == "calm" ? 1 : 1'000 * mib, 1, name != "elsewhere"});
    REQUIRE(machine::wait([&] { return here.runs(name); }));
  }
  runtime->has_layers(layers);
  *full = true;
  REQUIRE(machine::wait([&] { return here.ended("writes"); }));
  CHECK(runtime->was_asked("free disk of images"));
  CHECK_FALSE(runtime->was_asked("free disk"));
  CHECK(here.status("writes").message() ==
        "The node was low on resource: ephemeral-storage. Threshold quantity: 15000Mi, available: "
        "1Mi. ");
  CHECK((here.runs("calm") && here.runs("elsewhere")));
  CHECK_THAT(log.text(), Catch::Contains("threshold 15000Mi on the disk of images: "));
}

TEST_CASE("a pod that is evicted for a soft threshold ends after its grace, or gets an event",
          "[kubelet]") {
  machine here;
  const auto short_of_memory = std::make_shared<std::atomic<bool>>(false);
  const auto runtime = std::make_shared<test::fake_runtime>();
  here.containers = runtime;
  here.adjust = [&](kubelet_options& options) {
    options.least_kill_limit = 10ms;
    options.evictions = {.soft_memory_bytes = 500 * mib, .soft_grace = 40ms, .longest_grace = 1s};
    options.pressure_period = 20ms;
    options.read_supplies = [short_of_memory] {
      auto supplies = plenty();
      if (*short_of_memory) supplies.memory.left = 400 * mib;
      return supplies;
    };
  };
  here.start_kubelet();
  here.create(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: one}\nspec: {containers: [{name: one, "
      "image: x}]}\n");
  REQUIRE(machine::wait([&] { return here.runs("one"); }));
  runtime->ignore_stops(true);
  *short_of_memory = true;
  CHECK(machine::wait([&] {
    return here.events("one", "ExceededGracePeriod") ==
           std::vector<std::string>{
               "Container runtime did not kill the pod within specified grace period."};
  }));
  runtime->ignore_stops(false);
  REQUIRE(machine::wait([&] { return here.ended("one"); }));
  CHECK(here.status("one").message() ==
        "The node was low on resource: memory. Threshold quantity: 500Mi, available: 400Mi. ");
}

}  // namespace troupe::actors
