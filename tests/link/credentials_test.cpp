// Authentication of both sides of a link.
#include <netdb.h>

#include <atomic>

#include "link/machines.hpp"
#include "support/skip.hpp"

namespace troupe::test {
namespace {

// A node with these credentials is refused, and the control plane's application does not notice.
// On a busy machine an attempt may time out before it is refused.
void check_refused(plane& there, link::credentials with, const std::string& reason) {
  node here{there.listener->address(), always(std::move(with))};
  REQUIRE(here.failures.await(reason));
  REQUIRE(here.sessions.count() == 0);
  REQUIRE(there.sessions.count() == 0);
  for (const auto& each : here.failures.all())
    REQUIRE(each.find('\n') == std::string::npos);
}

TEST_CASE("strangers are refused by their certificate") {
  plane there;
  const authority another{"another cluster"};
  SECTION("of another authority") {
    auto with = another.issue({"system:node:a", {"system:nodes"}});
    with.authority = our_authority().certificate();
    check_refused(there, with, "may not accept our certificate");
  }
  SECTION("of an authority with the same name") {
    const authority forged{"the cluster"};
    auto with = forged.issue({"system:node:a", {"system:nodes"}});
    with.authority = our_authority().certificate();
    check_refused(there, with, "may not accept our certificate");
  }
  SECTION("expired") {
    check_refused(there,
                  our_authority().issue({"system:node:a", {}, {}, std::chrono::seconds{-60}}),
                  "may not accept our certificate");
  }
  SECTION("with two names") {
    check_refused(there, our_authority().issue({"", {}}), "one common name");
  }
  // The control plane continues to work.
  node good{there.listener->address()};
  REQUIRE(there.sessions.await().session);
}

TEST_CASE("a plane is refused by its certificate") {
  const authority another{"another cluster"};
  const auto check = [](link::credentials shown, const std::string& reason,
                        const std::string& host = "127.0.0.1") {
    plane there{false, {"127.0.0.1", 0}, always(std::move(shown))};
    node here{{host, there.listener->address().port}};
    REQUIRE(here.failures.await(reason));
    REQUIRE(here.sessions.count() == 0);
    REQUIRE(there.sessions.count() == 0);
  };
  SECTION("of another authority") {
    auto shown = another.issue({"troupe", {}, {"IP:127.0.0.1"}});
    shown.authority = our_authority().certificate();
    check(shown, "certificate");
  }
  SECTION("expired") {
    check(our_authority().issue({"troupe", {}, {"IP:127.0.0.1"}, std::chrono::seconds{-60}}),
          "certificate");
  }
  SECTION("of another address") {
    check(our_authority().issue({"troupe", {}, {"IP:127.0.0.2"}}), "127.0.0.1");
  }
  SECTION("of another name") {
    check(our_authority().issue({"troupe", {}, {"DNS:elsewhere", "IP:127.0.0.1"}}), "localhost",
          "localhost");
  }
}

TEST_CASE("a host name is verified as well") {
  addrinfo* found = nullptr;
  if (::getaddrinfo("localhost", nullptr, nullptr, &found) != 0) {
    troupe::test::skip("this machine does not know the name localhost");
    return;
  }
  ::freeaddrinfo(found);
  plane there;
  node here{{"localhost", there.listener->address().port}};
  REQUIRE(there.sessions.await().session);
}

TEST_CASE("credentials that are none are an error that says which") {
  const session_log sessions;
  const auto start = [&](link::credentials with) {
    return link::listener::start({{"127.0.0.1", 0}, always(std::move(with)), {}, 5});
  };
  auto with = plane_credentials();
  with.private_key = node_credentials().private_key;
  REQUIRE_THAT(start(with).error(), Catch::Contains("not that of its certificate"));
  with.private_key = "x";
  REQUIRE_THAT(start(with).error(), Catch::Contains("private key is not a key"));
  with.certificate = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";
  REQUIRE_THAT(start(with).error(), Catch::Contains("own certificate is not"));
  node here{{"127.0.0.1", 9}, always(with)};
  REQUIRE_THAT(here.failures.await(), Catch::Contains("own certificate is not"));
}

TEST_CASE("a port that is taken is an error that names it") {
  plane there;
  const auto second = link::listener::start(
      {there.listener->address(), always(plane_credentials()), there.sessions.acceptor(), 5});
  REQUIRE_THAT(second.error(),
               Catch::Contains("127.0.0.1:" + std::to_string(there.listener->address().port)) &&
                   Catch::Contains("in use"));
}

TEST_CASE("renewed credentials count from the next handshake on, without a restart") {
  const authority next{"the next authority"};
  std::mutex mutex;
  auto shown = plane_credentials();
  const auto source = [&] {
    std::lock_guard lock{mutex};
    return shown;
  };
  plane there{false, {"127.0.0.1", 0}, source};
  node here{there.listener->address()};
  const auto first = there.sessions.await();
  REQUIRE(first.session);

  // Invalid credentials change nothing.
  {
    std::lock_guard lock{mutex};
    shown.private_key = "none";
  }
  node second{there.listener->address()};
  REQUIRE(there.sessions.await(1).session);
  {
    std::lock_guard lock{mutex};
    shown = next.issue({"troupe", {}, {"IP:127.0.0.1"}});
  }
  // Existing sessions stay open; new ones must know the new authority.
  REQUIRE(first.session->send("still here"));
  REQUIRE(here.sessions.await().notes->await_frames(1));
  node late{there.listener->address()};
  late.failures.await();
  REQUIRE(late.sessions.count() == 0);
  node new_one{there.listener->address(), always(next.issue({"system:node:n", {"system:nodes"}}))};
  REQUIRE(there.sessions.await(2).session->other().name == "system:node:n");
}

TEST_CASE("a node shows its renewed certificate when it calls again") {
  plane there;
  std::atomic<int> asked{0};
  node here{there.listener->address(), [&] { return node_credentials(std::to_string(asked++)); }};
  const auto first = there.sessions.await();
  REQUIRE(first.session);
  first.session->close("call again");
  const auto second = there.sessions.await(1);
  REQUIRE(second.session);
  // Each attempt asks for them, also one that times out on a busy machine.
  const auto number = [](const session_log::entry& from) {
    return std::stoi(from.session->other().name.substr(std::string{"system:node:"}.size()));
  };
  REQUIRE(number(second) > number(first));
  REQUIRE(second.session->other().key_hash != first.session->other().key_hash);
}

}  // namespace
}  // namespace troupe::test
