// The sweep for pods that the kubelet does not know.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>

#include "actors/kubelet/fake_runtime.hpp"
#include "actors/kubelet/machine.hpp"

namespace troupe::test {

TEST_CASE("a runtime that does not answer is asked for its pods once", "[kubelet]") {
  using namespace std::chrono_literals;
  machine here;
  const auto runtime = std::make_shared<fake_runtime>();
  here.containers = runtime;
  runtime->hold_lists();
  const auto readings = std::make_shared<std::atomic<int>>(0);
  here.adjust = [&](actors::kubelet_options& options) {
    options.orphan_sweep = 5ms;
    // Shows that time passes.
    options.evictions.emplace();
    options.pressure_period = 5ms;
    options.read_supplies = [readings] {
      ++*readings;
      return actors::node_supplies{};
    };
  };
  here.start_kubelet();
  REQUIRE(machine::wait([&] { return runtime->was_listed(); }));
  const int seen = *readings;
  REQUIRE(machine::wait([&] { return *readings > seen + 20; }));
  CHECK(runtime->lists() == 1);
}

}  // namespace troupe::test
