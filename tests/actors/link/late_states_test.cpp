// When a state is recent enough to reject a node for good.
#include "actors/link/late_states.hpp"

#include <catch2/catch.hpp>

#include "actors/core_fixture.hpp"
#include "actors/link/defaults.hpp"

using namespace troupe;
using namespace troupe::actors;

TEST_CASE("a node is refused permanently only by a state as new as its call") {
  test::core_fixture cluster{1, {.far = true}};
  late_states states;
  CHECK_FALSE(states.counts(*cluster.store, "a"));
  // The barrier is pending, however often the node calls.
  CHECK_FALSE(states.counts(*cluster.store, "a"));
  cluster.far->run();
  CHECK_FALSE(states.counts(*cluster.store, "b"));
  CHECK(states.counts(*cluster.store, "a"));
  // One barrier is valid for one call.
  CHECK_FALSE(states.counts(*cluster.store, "a"));
}

TEST_CASE("an embedded store always shows the newest state") {
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
