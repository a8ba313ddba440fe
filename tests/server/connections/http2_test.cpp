#include <nghttp2/nghttp2.h>

#include <catch2/catch.hpp>

#include "server/fixtures/http_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using namespace std::chrono_literals;
using test::http2_client;

TEST_CASE("a request over HTTP/2 is answered as over HTTP/1.1") {
  test_server server;
  http2_client client{server.client()};
  const auto answer = client.request("GET", "/hello");
  CHECK(answer.status == 200);
  CHECK(answer.body == "Hello, world\n");
  CHECK(answer.headers.at("content-type") == "text/plain");
  CHECK(answer.headers.at("content-length") == "13");
  CHECK(answer.headers.at("cache-control") == "no-cache, private");
  CHECK(answer.headers.at("audit-id").size() == 16);
  CHECK(client.request("HEAD", "/hello").headers.at("content-length") == "13");
  CHECK(client.request("POST", "/echo", "a body").body == "a body");
  CHECK(client.request("GET", "/nowhere").status == 404);
  CHECK(client.ping());
}

TEST_CASE("many streams of one connection are answered in any order") {
  test_server server;
  http2_client client{server.client_with_certificate()};
  std::map<std::int32_t, std::string> expected;
  for (int i = 0; i < 1000; ++i) {
    const bool late = i % 2 == 0;
    const auto id = client.start("GET", late ? "/late?" + std::to_string(i) : "/hello");
    expected[id] = late ? "late " + std::to_string(i) : "Hello, world\n";
  }
  REQUIRE(client.run([&] {
    for (const auto& [id, body] : expected) {
      if (!client.at(id).ended) return false;
    }
    return true;
  }));
  for (const auto& [id, body] : expected)
    REQUIRE(client.at(id).answer.body == body);
  CHECK(server.server().stats().accepted == 1);
}

TEST_CASE("large bodies flow both ways over HTTP/2") {
  test_server server;
  server.site.on("/list",
                 [piece = server::shared_text{std::string(3700, 'p')}](auto&, auto& answer) {
                   server::response out;
                   for (int i = 0; i < 3000; ++i)
                     out.content.add(piece);
                   answer.respond(std::move(out));
                 });
  http2_client client{server.client()};
  const std::string body(3u << 20, 'u');
  CHECK(client.request("POST", "/echo", body).body == body);
  CHECK(client.request("GET", "/list").body.size() == 3000 * 3700);
}

TEST_CASE("a body over the limit is a 413 over HTTP/2 and the connection goes on") {
  test_server server;
  http2_client client{server.client()};
  const auto answer = client.request("POST", "/echo", std::string((3u << 20) + 1, 'u'));
  CHECK(answer.status == 413);
  CHECK(answer.body.find("RequestEntityTooLarge") != std::string::npos);
  CHECK(client.request("GET", "/hello").status == 200);
  CHECK(server.site.served == 1);
}

TEST_CASE("a refusal comes before the body and stops the upload") {
  test_server server;
  server.site.admission = [](server::request& head) -> std::optional<server::response> {
    if (head.path == "/refused") return text_response("no", 403);
    return std::nullopt;
  };
  http2_client client{server.client()};
  const auto refused = [&](std::string body, const test::http_client::fields& headers = {}) {
    const auto id = client.start("POST", "/refused", std::move(body), headers);
    client.run([&] { return client.at(id).ended; });
    CHECK(client.at(id).answer.status == 403);
    CHECK(client.at(id).answer.body == "no");
    return client.at(id);
  };
  // Clients that are still sending drop an answer if a reset follows: a short body is read to its
  // end.
  CHECK_FALSE(refused("{}").reset);
  CHECK_FALSE(refused(std::string(3u << 20, 'u')).reset);
  // A missing body, and an endless one.
  CHECK(refused("", {{"content-length", "5"}}).reset);
  CHECK(refused(std::string(server::defaults::linger_bytes + (1u << 20), 'u')).reset);
  CHECK(client.request("GET", "/hello").status == 200);
  CHECK(server.site.served == 1);
}

TEST_CASE("too many header bytes are a 431 over HTTP/2") {
  test_server server;
  http2_client client{server.client()};
  test::http_client::fields headers;
  for (int i = 0; i < 150; ++i)
    headers["x-" + std::to_string(i)] = "v";
  CHECK(client.request("GET", "/hello", {}, headers).status == 431);
  CHECK(client.request("GET", "/hello").status == 200);
}

TEST_CASE("a handler that is slow on one stream delays no other") {
  test_server server;
  http2_client client{server.client()};
  const auto waiting = client.start("GET", "/never");
  CHECK(client.request("GET", "/hello").status == 200);
  CHECK(client.at(waiting).answer.status == 0);
}

TEST_CASE("an unanswered HTTP/2 request is a 504 after its time, an unfinished one a 408") {
  server::http_options options;
  options.request_timeout = 150ms;
  test_server server{options};
  http2_client client{server.client()};
  CHECK(client.request("GET", "/never").status == 504);
  const auto id = client.start("POST", "/echo", "", {{"content-length", "5"}});
  client.run([&] { return client.at(id).ended; });
  CHECK(client.at(id).answer.status == 408);
  CHECK(client.request("GET", "/hello").status == 200);
}

TEST_CASE("a client that opens and resets streams without end is disconnected") {
  test_server server;
  http2_client client{server.client()};
  const auto begin = std::chrono::steady_clock::now();
  // Of each round only the maximum number of open streams reaches the server: five.
  for (int round = 0; round < 5'000 && !client.goaway_received(); ++round) {
    std::vector<std::int32_t> ids;
    for (int i = 0; i < 50; ++i)
      ids.push_back(client.start("GET", "/never"));
    if (!client.run([] { return true; })) break;
    for (const auto id : ids)
      client.reset(id);
    if (!client.run([] { return true; }) || client.connection().has_input())
      client.run([&] { return !client.connection().has_input(); });
  }
  client.run([&] { return client.goaway_received(); });
  // Its further requests may replace the GOAWAY that it has not read.
  CHECK((client.goaway_received() || client.connection().wait_for_end()));
  // A burst of 1,000, and 33 more in each second.
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(server.site.served < 2'000 + server::defaults::resets_per_second * took.count());
  http2_client other{server.client()};
  CHECK(other.request("GET", "/hello").status == 200);
}

TEST_CASE("garbage after the HTTP/2 handshake ends that connection only") {
  test_server server;
  http2_client bystander{server.client()};
  CHECK(bystander.request("GET", "/hello").status == 200);
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), std::string(100'000, '\xff'),
        std::string(NGHTTP2_CLIENT_MAGIC) + std::string(20'000, '\x01')}) {
    auto options = server.client();
    options.protocols = {"h2"};
    test::wire stranger{options};
    REQUIRE(stranger.protocol() == "h2");
    stranger.send(bytes);
    CHECK(stranger.wait_for_end());
  }
  CHECK(bystander.request("GET", "/hello").status == 200);
}

TEST_CASE("an idle HTTP/2 connection gets a GOAWAY and is closed") {
  server::http_options options;
  options.idle_timeout = 1s;
  test_server server{options};
  http2_client client{server.client()};
  CHECK(client.request("GET", "/hello").status == 200);
  client.run([] { return false; });
  CHECK(client.goaway_received());
  CHECK(client.goaway_code() == NGHTTP2_NO_ERROR);
  CHECK(client.connection().ended());
}

TEST_CASE("stopping the server lets answers under way finish and says goodbye") {
  server::http_options options;
  options.drain_timeout = 60s;
  test_server server{options};
  std::promise<server::responder> held;
  server.site.on("/keep", [&](auto&, auto& answer) { held.set_value(answer); });
  http2_client client{server.client()};
  const auto id = client.start("GET", "/keep");
  client.run([] { return true; });
  auto answer = held.get_future().get();
  std::thread stopping{[&] { server.server().stop(); }};
  CHECK(client.run([&] { return client.goaway_received(); }));
  answer.respond(text_response("at last"));
  CHECK(client.run([&] { return client.at(id).ended; }));
  CHECK(client.at(id).answer.body == "at last");
  stopping.join();
}
