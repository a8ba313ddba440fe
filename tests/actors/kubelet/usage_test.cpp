// From the kernel's texts to counters, and from counters to figures.
#include <catch2/catch.hpp>
#include <limits>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/os/process_table.hpp"
#include "actors/kubelet/runtimes/process/cgroup_usage.hpp"
#include "actors/kubelet/usage/machine_counters.hpp"
#include "actors/kubelet/usage/pod_networks.hpp"
#include "actors/kubelet/usage/usage_rates.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;

namespace {

usage_counters counters(machine_time at, std::chrono::nanoseconds cpu, std::uint64_t memory = 0) {
  return {at, static_cast<std::uint64_t>(cpu.count()), memory};
}

container_counters container(const std::string& id, usage_counters now,
                             std::optional<machine_time> started = {}) {
  return {.pod_uid = "u", .container = "c-" + id, .id = id, .started = started, .counters = now};
}

}  // namespace

TEST_CASE("a rate is the usage between two readings divided by the time between them",
          "[kubelet]") {
  const auto figure = usage_between(counters(10s, 4s, 7), counters(14s, 6s, 5));
  REQUIRE(figure);
  CHECK(figure->cpu_nano == 500'000'000);
  CHECK(figure->memory_bytes == 5);
  CHECK(figure->window == 4s);
  CHECK(usage_between(counters(0s, 0s), counters(24h, 0s))->cpu_nano == 0);
  // Of several processors.
  CHECK(usage_between(counters(1s, 0s), counters(2s, 64s))->cpu_nano == 64'000'000'000);
}

TEST_CASE("readings too close together, or of another counter, give no rate", "[kubelet]") {
  constexpr auto shortest = kubelet_defaults::usage_shortest_window;
  CHECK_FALSE(usage_between(counters(1s, 0s), counters(1s, 1s)));
  CHECK_FALSE(usage_between(counters(1s, 0s), counters(1s + shortest - 1ns, 1s)));
  CHECK(usage_between(counters(1s, 0s), counters(1s + shortest, 1s)));
  CHECK_FALSE(usage_between(counters(2s, 0s), counters(1s, 1s)));
  CHECK_FALSE(usage_between(counters(1s, 2s), counters(9s, 1s)));
}

TEST_CASE("containers are distinguished by run, and new ones count from their start", "[kubelet]") {
  const usage_reading before{
      .machine = counters(10s, 1s),
      .containers = {container("a", counters(10s, 1s)), container("gone", counters(10s, 1s))}};
  const usage_reading now{
      .machine = counters(12s, 2s),
      .containers = {container("a", counters(12s, 3s)), container("b", counters(12s, 1s), 11s),
                     container("just begun", counters(12s, 0s), 12s - 1ms),
                     container("no start", counters(12s, 1s))},
      .systemd_groups = true};
  const auto figures = usage_between(before, now);
  CHECK(figures.systemd_groups);
  REQUIRE(figures.machine);
  CHECK(figures.machine->cpu_nano == 500'000'000);
  REQUIRE(figures.containers.size() == 2);
  CHECK(figures.containers[0].container == "c-a");
  CHECK(figures.containers[0].figure.cpu_nano == 1'000'000'000);
  CHECK(figures.containers[1].container == "c-b");
  CHECK(figures.containers[1].figure.window == 1s);
  CHECK_FALSE(usage_between({}, now).machine);
}

TEST_CASE("a machine's processor usage excludes idle, disk wait and stolen time", "[kubelet]") {
  const std::string stat = "cpu  100 20 30 9999 888 7 3 5000 60 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
  CHECK(parse_cpu_ns(stat, 100) == 160ull * 10'000'000);
  CHECK_FALSE(parse_cpu_ns("cpu  100 20", 100));
  CHECK_FALSE(parse_cpu_ns("intr 1 2 3 4 5 6 7 8", 100));
  CHECK_FALSE(parse_cpu_ns("", 100));
  CHECK_FALSE(parse_cpu_ns(stat, 0));
}

TEST_CASE("a pod's network counters are those of the device that leads to it", "[kubelet]") {
  const std::string header =
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
  const std::string routes = header +
                             "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
                             "veth1\t05002A0A\t00000000\t0005\t0\t0\t0\tFFFFFFFF\t0\t0\t0\n"
                             "veth2\t06002A0A\t00000000\t0005\t0\t0\t0\tFFFFFFFF\t0\t0\t0\n"
                             "veth2\t07002A0A\t00000000\t0005\t0\t0\t0\tFFFFFFFF\t0\t0\t0\n";
  const std::string devices =
      "Inter-|   Receive                            |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
      "  eth0: 100 1 0 0 0 0 0 0 200 2 0 0 0 0 0 0\n"
      " veth1: 10 1 2 3 0 0 0 0 20 4 5 6 0 0 0 0\n"
      " veth2: 10 1 2 3 0 0 0 0 20 4 5 6 0 0 0 0\n";
  const auto found = parse_pod_networks(routes, devices);
  REQUIRE(found.size() == 1);
  CHECK(found[0].address == "10.42.0.5");
  CHECK(found[0].tx_bytes == 10);
  CHECK(found[0].tx_packets == 1);
  CHECK(found[0].tx_errors == 2);
  CHECK(found[0].tx_dropped == 3);
  CHECK(found[0].rx_bytes == 20);
  CHECK(found[0].rx_dropped == 6);
  CHECK(parse_pod_networks(routes, " veth1: 10 1\n").empty());
  CHECK(parse_pod_networks("", devices).empty());
}

TEST_CASE("a machine's memory is used where it is not available", "[kubelet]") {
  CHECK(parse_used_memory("MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:   400 kB\n") ==
        600u * 1024);
  CHECK_FALSE(parse_used_memory("MemTotal: 1000 kB\n"));
  CHECK_FALSE(parse_used_memory("MemTotal: 1000 kB\nMemAvailable: 2000 kB\n"));
  CHECK_FALSE(parse_used_memory("MemTotal: many\nMemAvailable: 1 kB\n"));
}

TEST_CASE("a group's memory is counted without files that were not read lately", "[kubelet]") {
  const std::string v1 = "cache 9\ninactive_file 1\ntotal_inactive_file 300\n";
  CHECK(working_set("1000\n", v1, false) == 700);
  CHECK(working_set("1000\n", "anon 5\ninactive_file 300\n", true) == 700);
  CHECK(working_set("200\n", v1, false) == 0);
  CHECK(working_set("200\n", "", false) == 200);
  CHECK_FALSE(working_set("", v1, false));
  CHECK(counter_in("usage_usec 17\nuser_usec 9\n", "usage_usec") == 17);
  CHECK_FALSE(counter_in("usage_usec many\n", "usage_usec"));
}

TEST_CASE("a line of the process table is read whatever the command is called", "[kubelet]") {
  const auto line = [](const std::string& name) {
    return "17 (" + name + ") R 3 16 15 0 -1 4194304 1 2 3 4 100 50 20 10 20 0 1 0 777 8192 40 0";
  };
  for (const std::string name : {"sh", "a) S 1 (b", ") ) )", "line\nbreak"}) {
    const auto entry = parse_process_stat(line(name));
    REQUIRE(entry);
    CHECK(entry->pid == 17);
    CHECK(entry->parent == 3);
    CHECK(entry->session == 15);
    CHECK(entry->ticks == 180);
    CHECK(entry->pages == 40);
  }
  CHECK_FALSE(parse_process_stat(""));
  CHECK_FALSE(parse_process_stat("17 (sh"));
  CHECK_FALSE(parse_process_stat("17 (sh) R 3 16"));
}

TEST_CASE("a container without a group is its session and all that descends from it", "[kubelet]") {
  const auto entry = [](pid_t pid, pid_t parent, pid_t session) {
    return process_entry{.pid = pid, .parent = parent, .session = session, .ticks = 1, .pages = 2};
  };
  // 20 left the session of 10, 30 lost its parent, 40 belongs to another tree.
  const process_table table{{entry(10, 1, 10), entry(11, 10, 10), entry(20, 11, 20),
                             entry(21, 20, 20), entry(30, 1, 10), entry(40, 1, 40)}};
  const auto usage = table.usage_of(10);
  REQUIRE(usage);
  CHECK(usage->ticks == 5);
  CHECK(usage->pages == 10);
  CHECK_FALSE(table.usage_of(99));
}

TEST_CASE("a process that is its own parent in a broken table is counted once", "[kubelet]") {
  const process_table table{{{.pid = 5, .parent = 6, .session = 5, .ticks = 1},
                             {.pid = 6, .parent = 5, .session = 5, .ticks = 1}}};
  CHECK(table.usage_of(5)->ticks == 2);
}

TEST_CASE("the process table has no more entries than its bound", "[kubelet]") {
  CHECK(process_table::read(0).usage_of(::getpid()) == std::nullopt);
  CHECK(process_table::read(100'000).usage_of(::getpid()).has_value());
}

}  // namespace troupe::actors
