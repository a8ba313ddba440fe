// A whole control plane on threads with simulated nodes: actors_test "[.bench]".
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "actors/control_plane.hpp"
#include "actors/creation.hpp"
#include "actors/follower.hpp"
#include "actors/kubelet/simulated_fleet.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "runtime/system.hpp"
#include "support/scratch_folder.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using actors::event_type;
using actors::watch_events;
using api::apps::v1::ReplicaSet;
using api::core::v1::Namespace;
using api::core::v1::Node;
using api::core::v1::Pod;

namespace {

struct tally {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t pods = 0, bound = 0, running = 0, nodes = 0;

  bool wait(const std::function<bool()>& done) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, std::chrono::seconds{120}, done);
  }
};

class counter : public actors::follower {
 public:
  counter(runtime::actor_ref watcher, tally* counts)
      : follower{std::move(watcher)}, counts_{counts} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table =
        runtime::handlers(&counter::on_watch_events, &counter::on_watch_ended);
    return table;
  }

  void started() override {
    follow(api::kind_of<Pod>().prefix(), [this](const watch_events& m) { take(m); });
    follow(api::kind_of<Node>().prefix(), [this](const watch_events& m) {
      std::lock_guard lock{counts_->mutex};
      for (const auto& event : m.events)
        counts_->nodes += event.type == event_type::added ? 1 : 0;
      counts_->changed.notify_all();
    });
  }

 private:
  void take(const watch_events& m) {
    std::lock_guard lock{counts_->mutex};
    for (const auto& event : m.events) {
      if (event.type != event_type::added) count(*event.previous, -1);
      if (event.type != event_type::deleted) count(*event.object, 1);
    }
    counts_->changed.notify_all();
  }

  void count(const api::object& object, int by) {
    const auto& pod = object.as<Pod>();
    counts_->pods += static_cast<std::size_t>(by);
    if (!pod.spec().node_name().empty()) counts_->bound += static_cast<std::size_t>(by);
    if (pod.status().phase() == "Running") counts_->running += static_cast<std::size_t>(by);
  }

  tally* counts_;
};

std::string name_of(int set) {
  return fmt::format("web{}", set);
}

void create(actors::control_plane& plane, int set, int replicas) {
  static std::mt19937_64 random{1};
  auto what = actors::create_transaction(
      plane.truth().read(), api::kind_of<ReplicaSet>(),
      std::make_unique<ReplicaSet>(replica_set(name_of(set), replicas, {{"app", name_of(set)}})),
      actors::creator::client, std::chrono::system_clock::now(), random);
  REQUIRE(what);
  plane.commit(std::move(*what), 1, [](const persistence::outcome&) {});
}

// A set whose controller handles nothing from now on.
void create_stalled(actors::control_plane& plane, int set) {
  create(plane, set, 1);
  auto& company = plane.company();
  runtime::actor_ref controller;
  while (!(controller = company.actors().find("replicaset", "default/" + name_of(set))))
    std::this_thread::yield();
  REQUIRE(company.pause(controller, std::chrono::minutes{5}));
}

class stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(from_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point from_ = std::chrono::steady_clock::now();
};

void print_busiest(runtime::system& system) {
  std::map<std::string, std::pair<runtime::duration, std::uint64_t>> by_kind;
  system.actors().each([&](const runtime::actor_info& info) {
    const auto& name = info.kind == "supervisor" ? info.name : info.kind;
    by_kind[name].first += info.busy;
    by_kind[name].second += info.handled;
  });
  for (const auto& [kind, spent] : by_kind) {
    const auto seconds = std::chrono::duration<double>(spent.first).count();
    if (seconds < 0.02) continue;
    fmt::print("    {:<24} {:>7.3f} s {:>9} messages\n", kind, seconds, spent.second);
  }
}

struct workload {
  int nodes;
  int sets = 1;
  int replicas = 1;  // of each
  bool one_is_stalled = false;
};

void run(const workload& w) {
  scratch_folder folder;
  persistence::store_options on_disk;
  on_disk.directory = folder.path().string();
  const auto truth = std::move(persistence::store::open(std::move(on_disk)).value());
  runtime::system system;
  actors::control_plane plane{system, *truth, {}};
  tally counts;
  system.spawn({.kind = "counter", .name = "counter"},
               runtime::make<counter>(plane.doors().watcher, &counts));
  actors::simulated_fleet_options fleet;
  fleet.nodes = static_cast<std::uint32_t>(w.nodes);
  actors::spawn_simulated_fleet(system, plane.doors(), fleet);
  REQUIRE(counts.wait([&] { return counts.nodes == static_cast<std::size_t>(w.nodes); }));
  while (!truth->read().find(api::kind_of<Namespace>().key({}, "default"))) {
    std::this_thread::yield();
  }
  if (w.one_is_stalled) create_stalled(plane, w.sets);
  std::size_t before = 0;
  {
    std::lock_guard lock{counts.mutex};
    before = counts.pods;
  }

  const auto all = w.sets * w.replicas;
  const auto wanted = before + static_cast<std::size_t>(all);
  stopwatch watch;
  for (int set = 0; set < w.sets; ++set)
    create(plane, set, w.replicas);
  REQUIRE(counts.wait([&] { return counts.pods >= wanted; }));
  const auto made = watch.lap();
  REQUIRE(counts.wait([&] { return counts.bound >= wanted; }));
  const auto bound = made + watch.lap();
  REQUIRE(counts.wait([&] { return counts.running >= wanted; }));
  const auto running = bound + watch.lap();
  fmt::print(
      "{} sets of {} pods on {} nodes{}: made {:.3f} s, bound {:.3f} s, running {:.3f} s "
      "({:.0f} pods/s)\n",
      w.sets, w.replicas, w.nodes, w.one_is_stalled ? ", beside one stalled" : "", made, bound,
      running, all / running);
  print_busiest(system);
  if (w.sets > 1) return;

  const auto key = api::kind_of<ReplicaSet>().key("default", name_of(0));
  persistence::transaction gone;
  gone.mutations.push_back({key, &api::kind_of<ReplicaSet>(), nullptr});
  watch.lap();
  plane.commit(std::move(gone), 2, [](const persistence::outcome&) {});
  REQUIRE(counts.wait([&] { return counts.pods == 0; }));
  fmt::print("  owner deleted, all pods gone: {:.3f} s\n", watch.lap());
  print_busiest(system);
}

}  // namespace

TEST_CASE("pods from nothing to running and back", "[.bench]") {
  run({.nodes = 100, .replicas = 1'000});
  run({.nodes = 1'000, .replicas = 10'000});
}

TEST_CASE("a thousand controllers of ten pods made together, with and without one that is stalled",
          "[.bench]") {
  run({.nodes = 1'000, .sets = 1'000, .replicas = 10});
  run({.nodes = 1'000, .sets = 1'000, .replicas = 10, .one_is_stalled = true});
}

}  // namespace troupe::test
