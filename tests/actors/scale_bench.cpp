// A whole control plane on threads with simulated nodes: actors_test "[.bench]".
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <map>

#include "support/fleet.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::test {

namespace {

class stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(from_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point from_ = std::chrono::steady_clock::now();
};

void print_busiest(runtime::actor_system& system) {
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

void up_and_down(std::size_t nodes, int controllers, int replicas) {
  scratch_folder folder;
  fleet on{folder.path().string(), nodes};
  const auto all = static_cast<std::size_t>(controllers * replicas);
  std::vector<std::string> names;
  for (int i = 0; i < controllers; ++i)
    names.push_back(fmt::format("web{}", i));
  stopwatch watch;
  on.create(names, replicas);
  on.wait([&](const auto& now) { return now.pods >= all; });
  const auto made = watch.lap();
  on.wait([&](const auto& now) { return now.bound >= all; });
  const auto bound = made + watch.lap();
  on.wait([&](const auto& now) { return now.running >= all; });
  const auto running = bound + watch.lap();
  fmt::print(
      "{} controllers of {} pods on {} nodes: made {:.3f} s, bound {:.3f} s, running {:.3f} s "
      "({:.0f} pods/s)\n",
      controllers, replicas, nodes, made, bound, running, double(all) / running);
  print_busiest(on.system());
  watch.lap();
  for (const auto& name : names)
    on.remove(name);
  on.wait([](const auto& now) { return now.pods == 0; });
  fmt::print("  owners deleted, all pods gone: {:.3f} s\n", watch.lap());
  print_busiest(on.system());
}

}  // namespace

TEST_CASE("pods from nothing to running and back", "[.bench]") {
  up_and_down(100, 1, 1'000);
  up_and_down(1'000, 1, 10'000);
}

TEST_CASE("a thousand controllers of ten pods made together", "[.bench]") {
  up_and_down(1'000, 1'000, 10);
}

TEST_CASE("a thousand controllers take no longer beside one that is stalled", "[.bench]") {
  scratch_folder folder;
  const auto ratio = delay_beside_a_stalled_controller(folder.path().string(), 31);
  fmt::print("1,000 controllers beside one that is stalled: {:.3f} times as long\n", ratio);
  CHECK(ratio < 1.05);
}

}  // namespace troupe::test
