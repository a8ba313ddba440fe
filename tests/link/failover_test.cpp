// A dialer that knows several listeners.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>

#include "link/machines.hpp"

using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

// Calls any of these addresses.
struct caller {
  explicit caller(std::function<std::vector<link::address>()> known)
      : dialer{link::dialer::start({.to = {},
                                    .credentials = always(node_credentials()),
                                    .accept = sessions.acceptor(),
                                    .failed = failures.callback(),
                                    .addresses = std::move(known)})
                   .value()} {}

  failure_log failures;
  session_log sessions;
  std::unique_ptr<link::dialer> dialer;
};

}  // namespace

TEST_CASE("a caller whose listener is gone reaches another one within five seconds") {
  plane one, two;
  // Nobody listens on the third.
  const std::vector<link::address> all{
      one.listener->address(), two.listener->address(), {"127.0.0.1", 1}};
  caller node{[&] { return all; }};
  REQUIRE(node.sessions.await(0).session);
  auto& used = one.sessions.count() == 1 ? one : two;
  auto& other = &used == &one ? two : one;
  const auto limit = promised(5s);
  used.listener.reset();
  CHECK(other.sessions.await(0, limit).session);
  CHECK(node.sessions.await(1, limit).session);
}

TEST_CASE("a caller without an address asks again, and reports no failure") {
  plane there;
  std::atomic<int> asked{0};
  caller node{[&] {
    return ++asked < 3 ? std::vector<link::address>{}
                       : std::vector<link::address>{there.listener->address()};
  }};
  CHECK(node.sessions.await(0).session);
  CHECK(asked >= 3);
  CHECK(node.failures.all().empty());
}
