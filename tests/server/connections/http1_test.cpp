#include <catch2/catch.hpp>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "server/fixtures/http_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using server::http_method;
using test::http_client;

TEST_CASE("a request over TLS is answered with the fields that every answer has") {
  test_server server;
  http_client client{server.client()};
  const auto answer = client.get("/hello");
  CHECK(answer.status == 200);
  CHECK(answer.body == "Hello, world\n");
  CHECK(answer.header("content-type") == "text/plain");
  CHECK(answer.header("content-length") == "13");
  CHECK(answer.header("cache-control") == "no-cache, private");
  CHECK(answer.header("audit-id").size() == 16);
  CHECK(answer.header("date").ends_with(" GMT"));
  CHECK(answer.header("connection").empty());
}

TEST_CASE("a connection serves one request after the other") {
  test_server server;
  http_client client{server.client()};
  for (int i = 0; i < 100; ++i)
    REQUIRE(client.get("/hello").body == "Hello, world\n");
  CHECK(server.server().stats().accepted == 1);
  CHECK(server.server().stats().requests == 100);
}

TEST_CASE("method, path, query and headers come to the handler decoded") {
  test_server server;
  std::string found;
  server.site.on("/a b/c", [&](auto& request, auto& answer) {
    found = std::string(to_string(request->method)) + "|" + request->query.get_or("x y", "") + "|" +
            request->query.get_or("none", "absent") + "|" +
            std::string(request->headers.get("accept")) + "|" + request->headers.joined("x-many") +
            "|" + request->connection->peer.substr(0, 10) + "|" +
            (request->connection->secure ? "secure" : "plain");
    answer.respond(text_response(""));
  });
  http_client client{server.client()};
  const auto answer =
      client.request("PATCH", "/a%20b/c?x+y=1%2B1&z", "body",
                     {{"ACCEPT", "  text/plain "}, {"X-Many", "a"}, {"x-many", "b"}});
  CHECK(answer.status == 200);
  CHECK(answer.header("content-length") == "0");
  CHECK(found == "PATCH|1+1|absent|text/plain|a, b|127.0.0.1:|secure");
}

TEST_CASE("an answer may come later and from another thread") {
  test_server server;
  http_client client{server.client()};
  for (int i = 0; i < 50; ++i)
    REQUIRE(client.get("/late?" + std::to_string(i)).body == "late " + std::to_string(i));
}

TEST_CASE("pipelined requests are answered in their order") {
  test_server server;
  http_client client{server.client()};
  std::string all;
  for (int i = 0; i < 60; ++i)
    all += "GET /" + std::string(i % 3 == 0 ? "late?" + std::to_string(i) : "hello") +
           " HTTP/1.1\r\nHost: x\r\n\r\n";
  REQUIRE(client.connection().send(all));
  for (int i = 0; i < 60; ++i) {
    const auto answer = client.receive_answer();
    REQUIRE(answer.body == (i % 3 == 0 ? "late " + std::to_string(i) : "Hello, world\n"));
  }
}

TEST_CASE("a request that comes byte by byte is understood") {
  test_server server{{}, listening::plain};
  http_client client{server.client()};
  for (const char c : std::string("\r\n\r\nPOST /echo HTTP/1.1\r\nHost: x\r\n"
                                  "Transfer-Encoding: chunked\r\n\r\n"
                                  "3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\nTrailer: ignored\r\n\r\n"))
    REQUIRE(client.connection().send({&c, 1}));
  CHECK(client.receive_answer().body == "abcde");
  CHECK(client.get("/hello").status == 200);
}

TEST_CASE("a body of many megabytes of shared pieces arrives whole") {
  test_server server;
  const auto piece = server::shared_text{std::string(3700, 'p')};
  server.site.on("/list", [&](auto&, auto& answer) {
    server::response out;
    out.content.add_static("[");
    for (int i = 0; i < 3000; ++i) {
      out.content.add(piece);
      out.content.add_static(",");
    }
    out.content.add_static("]");
    answer.respond(std::move(out));
  });
  http_client client{server.client()};
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.get("/list");
    REQUIRE(answer.body.size() == 3000 * 3701 + 2);
    CHECK(answer.body.ends_with("p,]"));
  }
  CHECK(eventually([&] { return piece.use_count() == 1; }));  // the server keeps none
}

TEST_CASE("a HEAD request gets the length and no body") {
  test_server server;
  http_client client{server.client()};
  const auto answer = client.request("HEAD", "/hello");
  CHECK(answer.header("content-length") == "13");
  CHECK(client.get("/hello").status == 200);
}

TEST_CASE("the body of a GET request is dropped") {
  test_server server;
  http_client client{server.client()};
  CHECK(client.request("GET", "/echo", "ignored").body.empty());
  CHECK(client.get("/hello").status == 200);
}

TEST_CASE("a client that expects 100-continue is asked for the body, or refused before it") {
  test_server server;
  server.site.admission = [](server::request& head) -> std::optional<server::response> {
    if (head.path == "/refused") return text_response("no", 403);
    return std::nullopt;
  };
  http_client client{server.client()};
  client.send_request("POST", "/echo", {}, {{"Expect", "100-continue"}, {"Content-Length", "2"}});
  CHECK(client.receive_head().status == 100);
  REQUIRE(client.connection().send("ok"));
  CHECK(client.receive_answer().body == "ok");
  client.send_request("POST", "/refused", {},
                      {{"Expect", "100-continue"}, {"Content-Length", "2"}});
  CHECK(client.receive_answer().status == 403);
}

TEST_CASE("HTTP/1.0 and Connection: close end the connection after the answer") {
  test_server server;
  {
    http_client client{server.client()};
    CHECK(client.get("/hello", {{"Connection", "close"}}).header("connection") == "close");
    CHECK(client.connection().wait_for_end());
  }
  {
    http_client client{server.client()};
    REQUIRE(client.connection().send("GET /hello HTTP/1.0\r\n\r\n"));
    CHECK(client.receive_answer().body == "Hello, world\n");
    CHECK(client.connection().wait_for_end());
  }
  {
    http_client client{server.client()};
    REQUIRE(client.connection().send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    CHECK(client.receive_answer().header("connection") == "keep-alive");
    CHECK(client.get("/hello").status == 200);
  }
}

TEST_CASE("a client that closes its side after the request still gets the answer") {
  test_server server{{}, listening::plain};
  http_client client{server.client()};
  client.send_request("GET", "/late?x");
  client.connection().end_sending();
  CHECK(client.receive_answer().body == "late x");
  CHECK(client.connection().wait_for_end());
}

TEST_CASE("a handler sees that its client has closed, and may stop working for it") {
  test_server server;
  std::promise<server::responder> held;
  server.site.on("/keep", [&](auto&, auto& answer) { held.set_value(answer); });
  http_client client{server.client()};
  client.send_request("GET", "/keep");
  const auto answer = held.get_future().get();
  CHECK_FALSE(answer.gone());
  client.connection().end_sending();
  CHECK(eventually([&] { return answer.gone(); }));
}

TEST_CASE("a responder that is dropped unanswered says 500") {
  test_server server;
  server.site.on("/drop", [](auto&, auto&) {});
  server.site.on("/throw", [](auto&, auto&) { throw std::runtime_error("on purpose"); });
  http_client client{server.client()};
  const auto dropped = client.get("/drop");
  CHECK(dropped.status == 500);
  CHECK(dropped.body.find("\"reason\":\"InternalError\"") != std::string::npos);
  CHECK(client.get("/throw").status == 500);
  CHECK(client.get("/hello").status == 200);
}

TEST_CASE("the first answer counts and others are dropped") {
  test_server server;
  server.site.on("/twice", [](auto&, auto& answer) {
    answer.respond(text_response("first"));
    answer.respond(text_response("second"));
    CHECK_FALSE(answer.start_stream({}, {}).open());
  });
  http_client client{server.client()};
  CHECK(client.get("/twice").body == "first");
  CHECK(client.get("/hello").body == "Hello, world\n");
}

TEST_CASE("an answer is made on the thread of its connection, and made when that has gone") {
  test_server server{{}, listening::plain};
  std::mutex mutex;
  std::vector<server::responder> held;
  std::thread::id serving, making;
  server.site.on("/keep", [&](auto&, auto& answer) {
    const std::lock_guard lock{mutex};
    serving = std::this_thread::get_id();
    held.push_back(answer);
  });
  const auto wait = [&] {
    REQUIRE(eventually([&] {
      const std::lock_guard lock{mutex};
      return !held.empty();
    }));
    const std::lock_guard lock{mutex};
    return std::exchange(held, {}).front();
  };
  http_client client{server.client()};
  client.send_request("GET", "/keep");
  const auto answer = wait();
  answer.run([&] {
    making = std::this_thread::get_id();
    answer.respond(text_response("made there"));
  });
  CHECK(client.receive_answer().body == "made there");
  CHECK(making == serving);

  auto other = std::make_unique<http_client>(server.client());
  other->send_request("GET", "/keep");
  const auto late = wait();
  other.reset();
  REQUIRE(eventually([&] { return late.gone(); }));
  std::promise<void> made;
  late.run([&] { made.set_value(); });
  CHECK(made.get_future().wait_for(std::chrono::seconds{60}) == std::future_status::ready);
  server.server().stop();
  bool here = false;
  late.run([&] { here = true; });
  CHECK(here);
}

TEST_CASE("an answer to a client that has gone is dropped, and the handler can see it") {
  test_server server{{}, listening::plain};
  std::promise<server::responder> held;
  server.site.on("/keep", [&](auto&, auto& answer) { held.set_value(answer); });
  auto client = std::make_unique<http_client>(server.client());
  client->send_request("GET", "/keep");
  auto answer = held.get_future().get();
  CHECK_FALSE(answer.gone());
  // Unread input makes the close a reset.
  client->send_request("GET", "/hello");
  client.reset();
  server.server().stop();
  CHECK(answer.gone());
  answer.respond(text_response("nobody reads this"));
}
