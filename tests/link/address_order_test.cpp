// The order in which a dialer tries addresses.
#include "runtime/link/transport/address_order.hpp"

#include <catch2/catch.hpp>
#include <set>

using namespace troupe::runtime::link;

namespace {

const std::vector<address> three{{"a", 1}, {"b", 2}, {"c", 3}};

}  // namespace

TEST_CASE("each address is tried once in a round, and no address twice in a row") {
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    address_order order{seed};
    std::string last;
    for (int round = 0; round < 5; ++round) {
      std::set<std::string> tried;
      for (int i = 0; i < 3; ++i) {
        const auto next = order.next(three);
        REQUIRE(next);
        CHECK(next->host != last);
        last = next->host;
        tried.insert(next->host);
        CHECK(order.round_ended() == (i == 2));
      }
      CHECK(tried.size() == 3);
    }
  }
}

TEST_CASE("many callers of a server that has gone spread over the others") {
  std::set<std::string> first;
  for (std::uint64_t seed = 1; seed < 20; ++seed)
    first.insert(address_order{seed}.next(three)->host);
  CHECK(first.size() == 3);
}

TEST_CASE("after a session that lasted, another address than its own is tried first") {
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    address_order order{seed};
    const auto used = order.next(three);
    order.begin_round();
    CHECK(order.next(three) != used);
  }
}

TEST_CASE("an address that is not known any more is not tried, and of none there is none") {
  address_order order{1};
  order.next(three);
  for (int i = 0; i < 4; ++i)
    CHECK(order.next({{"d", 4}}) == address{"d", 4});
  CHECK_FALSE(order.next({}));
  CHECK(order.round_ended());
}
