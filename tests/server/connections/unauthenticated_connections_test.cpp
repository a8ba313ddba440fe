// Which connections are closed when there are too many.
#include "server/connections/unauthenticated_connections.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <catch2/catch.hpp>
#include <future>

#include "server/connections/local_socket.hpp"
#include "server/fixtures/auth_filter_fixture.hpp"
#include "server/fixtures/http_fixture.hpp"
#include "support/scratch_folder.hpp"

using namespace troupe;
using namespace troupe::server;
using namespace troupe::server::testing;
using namespace std::chrono_literals;
using test::http_client;
using test::wire;

namespace {

sockaddr_storage address(const char* text) {
  sockaddr_storage out{};
  auto& six = reinterpret_cast<sockaddr_in6&>(out);
  auto& four = reinterpret_cast<sockaddr_in&>(out);
  out.ss_family = ::inet_pton(AF_INET6, text, &six.sin6_addr) == 1 ? AF_INET6 : AF_INET;
  if (out.ss_family == AF_INET) REQUIRE(::inet_pton(AF_INET, text, &four.sin_addr) == 1);
  return out;
}

std::uint64_t number(const char* text) {
  return address_of(address(text));
}

test::wire_options plain(const test_server& server) {
  auto options = server.client();
  options.tls = false;
  return options;
}

bool answers(const test::wire_options& options) {
  return http_client{options}.get("/hello").status == 200;
}

}  // namespace

TEST_CASE("an address is one IPv4 address or one IPv6 network of 64 bits") {
  CHECK(number("192.0.2.1") != number("192.0.2.2"));
  CHECK(number("::ffff:192.0.2.1") == number("192.0.2.1"));
  CHECK(number("2001:db8:1:2::1") == number("2001:db8:1:2:ffff::9"));
  CHECK(number("2001:db8:1:2::1") != number("2001:db8:1:3::1"));
  CHECK(number("::1") != 0);
  sockaddr_storage local{};
  local.ss_family = AF_UNIX;
  CHECK(address_of(local) == 0);
}

TEST_CASE("silent clients cannot hold every connection") {
  http_options options;
  options.connections = 40;
  test_server server{options};
  http_client known{server.client_with_certificate()};
  REQUIRE(known.get("/hello").status == 200);
  std::vector<std::unique_ptr<wire>> silent;
  for (int i = 0; i < 100; ++i)
    silent.push_back(std::make_unique<wire>(plain(server)));
  REQUIRE(eventually([&] { return server.server().stats().accepted == 101; }));
  CHECK(answers(server.client_with_certificate()));
  CHECK(answers(server.client()));
  CHECK(known.get("/hello").status == 200);
  CHECK(eventually([&] { return server.server().stats().now_connections <= 21; }));
  // The oldest was closed first.
  CHECK(silent.front()->wait_for_end());
}

TEST_CASE("a burst that comes while a thread is busy closes the oldest, not the newest") {
  http_options options;
  options.io_threads = 1;
  options.connections = 40;
  test_server server{options};
  std::promise<void> go_on;
  server.site.on("/busy", [&](const request_ptr&, const responder& answer) {
    go_on.get_future().wait();
    answer.respond(text_response("done"));
  });
  http_client busy{server.client_with_certificate()};
  busy.send_request("GET", "/busy");
  REQUIRE(eventually([&] { return server.site.served == 1; }));
  std::vector<std::unique_ptr<wire>> silent;
  for (int i = 0; i < 100; ++i)
    silent.push_back(std::make_unique<wire>(plain(server)));
  go_on.set_value();
  CHECK(busy.receive_answer().status == 200);
  REQUIRE(eventually([&] { return server.server().stats().accepted == 101; }));
  CHECK(server.server().stats().refused == 0);
}

TEST_CASE("one address does not take the place of other unauthenticated connections") {
  http_options options;
  options.unauthenticated_per_address = 4;
  test_server server{options};
  std::vector<std::unique_ptr<wire>> silent;
  for (int i = 0; i < 20; ++i)
    silent.push_back(std::make_unique<wire>(plain(server)));
  REQUIRE(eventually([&] { return server.server().stats().shed == 16; }));
  CHECK(eventually([&] { return server.server().stats().now_connections == 4; }));
  CHECK(server.server().stats().refused == 0);
  // Authenticated connections do not count.
  std::vector<std::unique_ptr<http_client>> known;
  for (int i = 0; i < 20; ++i) {
    known.push_back(std::make_unique<http_client>(server.client_with_certificate()));
    CHECK(known.back()->get("/hello").status == 200);
  }
  for (const auto& each : known)
    CHECK(each->get("/hello").status == 200);
}

TEST_CASE("an unauthenticated connection with a pending request outlives an idle one") {
  http_options options;
  options.io_threads = 1;
  options.unauthenticated_per_address = 2;
  test_server server{options, listening::plain};
  http_client busy{server.client()};
  busy.send_request("GET", "/never");
  REQUIRE(eventually([&] { return server.site.served == 1; }));
  http_client idle{server.client()};
  REQUIRE(idle.get("/hello").status == 200);
  http_client third{server.client()};
  CHECK(third.get("/hello").status == 200);
  CHECK(idle.connection().wait_for_end());
  CHECK_FALSE(busy.connection().has_input());
}

TEST_CASE("a first request with a good token makes a connection known, a bad one does not") {
  http_options options;
  options.unauthenticated_per_address = 4;
  filtered_server server{400, 200, options};
  http_client with_token{server.client()};
  REQUIRE(with_token.get("/api/v1/pods", filtered_server::headers("plain-token")).status == 200);
  http_client with_bad_token{server.client()};
  REQUIRE(with_bad_token.get("/api/v1/pods", filtered_server::headers("bad")).status == 401);
  http_client with_none{server.client()};
  REQUIRE(with_none.get("/healthz").status == 200);
  for (int i = 0; i < 20; ++i)
    CHECK(server.get("/healthz").status == 200);
  // Enough that each I/O thread gets some, however the system distributes them.
  std::vector<std::unique_ptr<wire>> silent;
  for (int i = 0; i < 64; ++i)
    silent.push_back(std::make_unique<wire>(server.client()));
  CHECK(with_bad_token.connection().wait_for_end());
  CHECK(with_none.connection().wait_for_end());
  CHECK(with_token.get("/api/v1/pods", filtered_server::headers("plain-token")).status == 200);
}

TEST_CASE(
    "a user does not get all connections, and its connections beyond that stay unauthenticated") {
  http_options options;
  options.connections = 40;
  filtered_server server{400, 200, options};
  const auto connect = [&](const std::string& token, auto& into) {
    into.push_back(std::make_unique<http_client>(server.client()));
    return into.back()->get("/api/v1/pods", filtered_server::headers(token)).status;
  };
  std::vector<std::unique_ptr<http_client>> greedy;
  for (int i = 0; i < 60; ++i)
    CHECK(connect("writer-greedy", greedy) == 200);
  std::vector<std::unique_ptr<http_client>> others;
  CHECK(connect("writer-other", others) == 200);
  CHECK(connect("master-token", others) == 200);
  CHECK(server.server.stats().refused == 0);
}

TEST_CASE("the local socket has connections left when the network has taken all") {
  http_options options;
  options.connections = 32;
  routes site;
  http_server server{options};
  test::scratch_folder folder;
  const auto file = folder.path() / console_socket;
  REQUIRE(server.listen_locally(file, site));
  const auto identity = tls_identity::make(test_identities::get().material()).value();
  const auto address = server.listen({"127.0.0.1", 0}, site, identity.get()).value();
  test::wire_options network;
  network.port = address.port;
  network.certificate = test_identities::get().client.certificate;
  network.private_key = test_identities::get().client.private_key;
  std::vector<std::unique_ptr<http_client>> crowd;
  for (int i = 0; i < 30; ++i) {
    crowd.push_back(std::make_unique<http_client>(network));
    REQUIRE(crowd.back()->get("/hello").status == 200);
  }
  CHECK_THROWS(http_client{network});
  const auto local = connect_to(file);
  REQUIRE(local);
  CHECK(eventually([&] { return server.stats().now_connections == 31; }));
  ::close(*local);
}

TEST_CASE("the listener of 2014 outlives heads and bodies that are slow or large, and a crowd") {
  http_options options;
  // Longer than a quick client takes on a busy machine.
  options.header_timeout = options.body_grace = 3s;
  options.unauthenticated_per_address = 20;
  routes api;
  api.on("/api/v1beta1/pods", [](auto&, auto& answer) { answer.respond(text_response("pods")); });
  const in_flight room{2, 2};
  open_filter filter{room, api, {"test"}};
  http_server server{options};
  test::wire_options client_options;
  client_options.port = server.listen({"127.0.0.1", 0}, filter).value().port;
  client_options.tls = false;
  const std::string post = "POST /api/v1beta1/pods HTTP/1.1\r\nHost: test\r\n";
  const auto say = [&](const std::string& bytes) {
    auto client = std::make_unique<http_client>(client_options);
    client->connection().send(bytes);
    return client;
  };
  std::vector<std::unique_ptr<http_client>> slow;
  for (int i = 0; i < 4; ++i) {
    slow.push_back(say(post + "Content-Le"));
    slow.push_back(say(post + "Content-Length: 1000\r\n\r\n{"));
  }
  CHECK(http_client{client_options}.get("/api/v1beta1/pods").status == 200);
  CHECK(http_client{client_options}.request("POST", "/api/v1beta1/pods", "{}").status == 200);
  for (const auto& each : slow)
    CHECK(each->receive_answer().status == 408);
  CHECK(say(post + "X: " + std::string(100'000, 'x') + "\r\n\r\n")->receive_answer().status == 431);
  std::vector<std::unique_ptr<wire>> silent;
  for (int i = 0; i < 100; ++i)
    silent.push_back(std::make_unique<wire>(client_options));
  CHECK(http_client{client_options}.get("/api/v1beta1/pods").status == 200);
  CHECK(eventually([&] { return server.stats().now_connections <= 20; }));
}
