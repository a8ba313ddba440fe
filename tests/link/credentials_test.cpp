// Who may speak to whom.
#include <netdb.h>

#include <atomic>

#include "link/machines.hpp"

namespace troupe::test {
namespace {

// A node with these credentials does not get in, and the plane hears nothing of it.
std::string refusal(plane& there, link::credentials with) {
  node here{there.door->where(), always(std::move(with))};
  const auto why = here.failures.await();
  REQUIRE(here.hosts.count() == 0);
  REQUIRE(there.guests.count() == 0);
  REQUIRE(why.find('\n') == std::string::npos);
  return why;
}

TEST_CASE("strangers are refused by their certificate") {
  plane there;
  const authority another{"another cluster"};
  SECTION("of another authority") {
    auto with = another.issue({"system:node:a", {"system:nodes"}});
    with.authority = our_authority().certificate();
    REQUIRE_THAT(refusal(there, with), Catch::Contains("may not accept our certificate"));
  }
  SECTION("of an authority with the same name") {
    const authority forged{"the cluster"};
    auto with = forged.issue({"system:node:a", {"system:nodes"}});
    with.authority = our_authority().certificate();
    REQUIRE_THAT(refusal(there, with), Catch::Contains("may not accept our certificate"));
  }
  SECTION("expired") {
    REQUIRE_THAT(
        refusal(there, our_authority().issue({"system:node:a", {}, {}, std::chrono::seconds{-60}})),
        Catch::Contains("may not accept our certificate"));
  }
  SECTION("with two names") {
    REQUIRE_THAT(refusal(there, our_authority().issue({"", {}})),
                 Catch::Contains("one common name"));
  }
  // And the plane goes on.
  node good{there.door->where()};
  REQUIRE(there.guests.await().session);
}

TEST_CASE("a plane is refused by its certificate") {
  const authority another{"another cluster"};
  const auto why_not = [](link::credentials shown, const std::string& host = "127.0.0.1") {
    plane there{false, {"127.0.0.1", 0}, always(std::move(shown))};
    node here{{host, there.door->where().port}};
    const auto why = here.failures.await();
    REQUIRE(here.hosts.count() == 0);
    REQUIRE(there.guests.count() == 0);
    return why;
  };
  SECTION("of another authority") {
    auto shown = another.issue({"troupe", {}, {"IP:127.0.0.1"}});
    shown.authority = our_authority().certificate();
    REQUIRE_THAT(why_not(shown), Catch::Contains("certificate"));
  }
  SECTION("expired") {
    REQUIRE_THAT(
        why_not(our_authority().issue({"troupe", {}, {"IP:127.0.0.1"}, std::chrono::seconds{-60}})),
        Catch::Contains("certificate"));
  }
  SECTION("of another address") {
    REQUIRE_THAT(why_not(our_authority().issue({"troupe", {}, {"IP:127.0.0.2"}})),
                 Catch::Contains("127.0.0.1"));
  }
  SECTION("of another name") {
    REQUIRE_THAT(why_not(our_authority().issue({"troupe", {}, {"DNS:elsewhere", "IP:127.0.0.1"}}),
                         "localhost"),
                 Catch::Contains("localhost"));
  }
}

TEST_CASE("a host name is verified as well") {
  addrinfo* found = nullptr;
  if (::getaddrinfo("localhost", nullptr, nullptr, &found) != 0) {
    WARN("this machine does not know the name localhost: not tested");
    return;
  }
  ::freeaddrinfo(found);
  plane there;
  node here{{"localhost", there.door->where().port}};
  REQUIRE(there.guests.await().session);
}

TEST_CASE("credentials that are none are an error that says which") {
  const hall guests;
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
      {there.door->where(), always(plane_credentials()), there.guests.acceptor(), 5});
  REQUIRE_THAT(second.error(),
               Catch::Contains("127.0.0.1:" + std::to_string(there.door->where().port)) &&
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
  node here{there.door->where()};
  const auto first = there.guests.await();
  REQUIRE(first.session);

  // Something that is of no use changes nothing.
  {
    std::lock_guard lock{mutex};
    shown.private_key = "none";
  }
  node second{there.door->where()};
  REQUIRE(there.guests.await(1).session);
  {
    std::lock_guard lock{mutex};
    shown = next.issue({"troupe", {}, {"IP:127.0.0.1"}});
  }
  // Those that have a session keep it; new ones must know the new authority.
  REQUIRE(first.session->send("still here"));
  REQUIRE(here.hosts.await().notes->await_frames(1));
  node late{there.door->where()};
  late.failures.await();
  REQUIRE(late.hosts.count() == 0);
  node new_one{there.door->where(), always(next.issue({"system:node:n", {"system:nodes"}}))};
  REQUIRE(there.guests.await(2).session->other().name == "system:node:n");
}

TEST_CASE("a node shows its renewed certificate when it calls again") {
  plane there;
  std::atomic<int> asked{0};
  node here{there.door->where(), [&] { return node_credentials(std::to_string(asked++)); }};
  const auto first = there.guests.await();
  REQUIRE(first.session->other().name == "system:node:0");
  first.session->close("call again");
  const auto second = there.guests.await(1);
  REQUIRE(second.session->other().name == "system:node:1");
  REQUIRE(second.session->other().key_hash != first.session->other().key_hash);
}

}  // namespace
}  // namespace troupe::test
