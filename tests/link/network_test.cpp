// Effects of network faults on a link.
#include <chrono>

#include "link/machines.hpp"
#include "link/relay.hpp"
#include "runtime/link/defaults.hpp"

namespace troupe::test {
namespace {

namespace defaults = link::defaults;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

TEST_CASE("a connection that is cut ends the session at both sides, and the node calls again") {
  plane there;
  relay between{there.listener->address()};
  node here{between.listens_at()};
  for (std::size_t round = 0; round < 3; ++round) {
    const auto at_node = here.sessions.await(round), at_plane = there.sessions.await(round);
    REQUIRE(at_plane.session);
    REQUIRE(at_node.session);
    const auto limit = promised(5s);
    between.cut();
    REQUIRE(at_node.notes->await_end(limit));
    REQUIRE(at_plane.notes->await_end(limit));
  }
  REQUIRE(here.sessions.await(3).session);
}

TEST_CASE("a session that reads nothing since its window is full still notices the cut") {
  plane there;
  relay between{there.listener->address()};
  node here{between.listens_at(), always(node_credentials()), true};
  const auto at_node = here.sessions.await(), at_plane = there.sessions.await();
  while (at_node.session->stats().window_bytes < defaults::window_limit_bytes)
    at_plane.session->send(std::string(10'000, 'x'));
  const auto limit = promised(5s);
  between.cut();
  REQUIRE(at_node.notes->await_end(defaults::heartbeat_period / 1ms * 1ms + limit));
  REQUIRE(at_plane.notes->await_end(limit));
}

TEST_CASE("a silent network is noticed within 5 s, and used again within 5 s of its healing") {
  plane there;
  relay between{there.listener->address()};
  node here{between.listens_at()};
  const auto at_node = here.sessions.await(), at_plane = there.sessions.await();
  REQUIRE(at_node.session);
  const auto limit = promised(5s);
  const auto begun = steady_clock::now();
  between.freeze();
  REQUIRE(at_node.notes->await_end(limit));
  REQUIRE(at_plane.notes->await_end(limit));
  const auto noticed = std::chrono::duration<double>(steady_clock::now() - begun).count();
  REQUIRE(here.failures.await("within 3 s"));
  const auto healed = steady_clock::now();
  between.heal();
  REQUIRE(here.sessions.await(1, limit).session);
  const auto used = std::chrono::duration<double>(steady_clock::now() - healed).count();
  std::printf("link: a silent network noticed after %.1f s, used %.1f s after healing\n", noticed,
              used);
}

TEST_CASE("a node finds a plane that starts again at the same port within 5 s") {
  auto there = std::make_unique<plane>();
  const auto address = there->listener->address();
  node here{address};
  const auto at_node = here.sessions.await();
  REQUIRE(at_node.session);
  there.reset();
  REQUIRE(at_node.notes->await_end());
  REQUIRE(here.failures.await("refused"));
  const auto limit = promised(5s);
  plane again{false, address};
  REQUIRE(again.sessions.await(0, limit).session);
}

}  // namespace
}  // namespace troupe::test
