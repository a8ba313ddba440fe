// Which state may be used to refuse a node permanently.
#include "actors/link/late_states.hpp"

#include <catch2/catch.hpp>

#include "actors/core_fixture.hpp"
#include "actors/link/defaults.hpp"

using namespace troupe;
using namespace troupe::actors;

TEST_CASE("a node is refused for good only by a state as new as its call") {
  test::core_fixture cluster{1, {.far = true}};
  late_states states;
  CHECK_FALSE(states.counts(*cluster.store, "a"));
  // The barrier is pending, however often the node calls.
  CHECK_FALSE(states.counts(*cluster.store, "a"));
  cluster.far->run();
  CHECK_FALSE(states.counts(*cluster.store, "b"));
  CHECK(states.counts(*cluster.store, "a"));
  // One barrier allows one call.
  CHECK_FALSE(states.counts(*cluster.store, "a"));
}

TEST_CASE("a store of its own shows the newest state always") {
  test::core_fixture cluster{1};
  CHECK(late_states{}.counts(*cluster.store, "a"));
}

TEST_CASE("nodes that were refused are remembered up to a bound") {
  test::core_fixture cluster{1, {.far = true}};
  late_states states;
  for (std::size_t i = 0; i <= link_defaults::refusals_under_way; ++i)
    CHECK_FALSE(states.counts(*cluster.store, "node-" + std::to_string(i)));
  cluster.far->run();
  CHECK(states.counts(*cluster.store, "node-" + std::to_string(link_defaults::refusals_under_way)));
}
