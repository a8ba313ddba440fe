// Hostile input: too much, too slow, malformed. The server answers an error or closes, and keeps
// serving.
#include <openssl/ssl.h>

#include <catch2/catch.hpp>

#include "server/fixtures/http_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using namespace std::chrono_literals;
using test::http_client;

namespace {

constexpr std::size_t limit = 3u << 20;

std::string chunked(const std::string& body, std::size_t chunk) {
  std::string text;
  char size[20];
  for (std::size_t at = 0; at < body.size(); at += chunk) {
    const auto part = body.substr(at, chunk);
    std::snprintf(size, sizeof size, "%zx\r\n", part.size());
    text += size + part + "\r\n";
  }
  return text + "0\r\n\r\n";
}

// The server's response to raw bytes, up to the end of the connection.
test::http_answer say(const test_server& server, const std::string& bytes, bool* closed = nullptr) {
  http_client client{server.client()};
  client.connection().send(bytes);
  auto answer = client.receive_answer();
  if (closed != nullptr) *closed = client.connection().wait_for_end();
  return answer;
}

}  // namespace

TEST_CASE("a body of 3 MiB is taken and one byte more is a 413, by length and chunked") {
  test_server server;
  const std::string most(limit, 'b');
  {
    http_client client{server.client()};
    CHECK(client.request("POST", "/echo", most).body.size() == limit);
    CHECK(client.request("POST", "/echo", chunked(most, 50'000), {{"Transfer-Encoding", "chunked"}})
              .body.size() == limit);
  }
  for (const bool in_chunks : {false, true}) {
    http_client client{server.client()};
    const auto body = in_chunks ? chunked(most + "b", 50'000) : most + "b";
    const auto answer = client.request(
        "POST", "/echo", body,
        in_chunks ? http_client::fields{{"Transfer-Encoding", "chunked"}} : http_client::fields{});
    CHECK(answer.status == 413);
    CHECK(answer.body.find("Request entity too large: limit is 3145728") != std::string::npos);
    CHECK(answer.body.find("\"reason\":\"RequestEntityTooLarge\"") != std::string::npos);
    CHECK(client.connection().wait_for_end());
  }
  CHECK(server.site.served == 2);
}

TEST_CASE("a body that is announced too large is refused before it is sent") {
  test_server server;
  http_client client{server.client()};
  client.send_request("POST", "/echo", {}, {{"Content-Length", "99999999999"}});
  CHECK(client.receive_answer().status == 413);
}

TEST_CASE("a compressed request body is a 415") {
  test_server server;
  http_client client{server.client()};
  CHECK(client.request("POST", "/echo", "x", {{"Content-Encoding", "gzip"}}).status == 415);
}

TEST_CASE("header fields beyond 64 KiB or beyond their number are a 431") {
  test_server server;
  http_client good{server.client_with_certificate()};
  CHECK(good.get("/hello", {{"X", std::string(60'000, 'x')}}).status == 200);
  bool closed = false;
  CHECK(say(server, "GET /hello HTTP/1.1\r\nHost: x\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n",
            &closed)
            .status == 431);
  CHECK(closed);
  std::string many = "GET /hello HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 200; ++i)
    many += "a: b\r\n";
  CHECK(say(server, many + "\r\n").status == 431);
  CHECK(say(server, "GET /" + std::string(70'000, 'p') + " HTTP/1.1\r\nHost: x\r\n\r\n").status ==
        431);
}

TEST_CASE("endless chunk heads and trailers are cut off") {
  test_server server;
  const std::string start = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  CHECK(say(server, start + "1;" + std::string(100'000, 'e')).status == 431);
  CHECK(say(server, start + "0\r\nX: " + std::string(100'000, 't')).status == 431);
}

TEST_CASE("requests that two servers could read differently are refused") {
  test_server server;
  const auto status = [&](const std::string& head) {
    bool closed = false;
    const auto answer = say(server, head + "\r\n\r\n0\r\n\r\n", &closed);
    CHECK(closed);
    return answer.status;
  };
  const std::string post = "POST /echo HTTP/1.1\r\nHost: x\r\n";
  CHECK(status(post + "Content-Length: 3\r\nTransfer-Encoding: chunked") == 400);
  CHECK(status(post + "Transfer-Encoding: chunked\r\nContent-Length: 3") == 400);
  CHECK(status(post + "Content-Length: 3\r\nContent-Length: 4") == 400);
  CHECK(status(post + "Content-Length: -1") == 400);
  CHECK(status(post + "Transfer-Encoding: gzip, chunked") == 501);
  CHECK(status(post + "Transfer-Encoding: xchunked") == 501);
  CHECK(status("POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked") == 400);
  CHECK(status("POST /echo HTTP/1.1\r\nHost : x") == 400);
  CHECK(status("GET /hello HTTP/1.1\r\nHost: a\r\nHost: b") == 400);
  CHECK(status("GET /hello HTTP/1.1") == 400);
  CHECK(status("GET hello HTTP/1.1\r\nHost: x") == 400);
  CHECK(status("GET /a%00b HTTP/1.1\r\nHost: x") == 400);
  CHECK(status("GET /hello HTTP/2.0\r\nHost: x") == 505);
  CHECK(status("GET /hello HTTP/1.1\r\nHost: x\r\nX: a\x01z") == 400);
  CHECK(server.site.served == 0);
}

TEST_CASE("header fields that servers read differently are refused, one by one") {
  test_server server;
  const std::string get = "GET /hello HTTP/1.1\r\nHost: x\r\n";
  const std::string post = "POST /echo HTTP/1.1\r\nHost: x\r\n";
  const std::string three = post + "Content-Length: 3\r\n";
  const std::string in_chunks = post + "Transfer-Encoding: chunked\r\n\r\n";
  using namespace std::string_literals;
  const std::vector<std::string> bad{
      // Folded over several lines (RFC 9112 5.2).
      get + "X: a\r\n b\r\n\r\n", get + "X: a\r\n\tb\r\n\r\n", get + "X:\r\n b\r\n\r\n",
      get + "X: a\r\n \r\n\r\n", "GET /hello HTTP/1.1\r\n Host: x\r\n\r\n",
      post + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
      // A bare CR or LF, a NUL.
      get + "X: a\rb\r\n\r\n", get + "X: a\nY: b\r\n\r\n", get + "X: a\n\r\n\r\n",
      get + "X: a\0b\r\n\r\n"s, get + "X\0: a\r\n\r\n"s, "GET /hello HTTP/1.1\nHost: x\n\n\r\n\r\n",
      // Names.
      get + "X : a\r\n\r\n", get + "X\t: a\r\n\r\n", get + ": a\r\n\r\n", get + "X\r\n\r\n",
      get + "X(y): a\r\n\r\n", get + "\xc3\xa4: a\r\n\r\n",
      // Two lengths, or one that is not a number.
      three + "Content-Length: 3\r\n\r\nabc", three + "Content-Length: 4\r\n\r\nabc",
      post + "Content-Length: 3, 3\r\n\r\nabc", post + "Content-Length: +3\r\n\r\nabc",
      post + "Content-Length: 0x3\r\n\r\nabc", post + "Content-Length: 3 3\r\n\r\nabc",
      post + "Content-Length:\r\n\r\nabc", post + "Content-Length: 18446744073709551619\r\n\r\nabc",
      three + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      three + "Transfer-Encoding: identity\r\n\r\nabc",
      // Chunks.
      in_chunks + "0x3\r\nabc\r\n0\r\n\r\n", in_chunks + "+3\r\nabc\r\n0\r\n\r\n",
      in_chunks + "-1\r\nabc\r\n0\r\n\r\n", in_chunks + "3\nabc\r\n0\r\n\r\n",
      in_chunks + "3\r\nabcd\r\n0\r\n\r\n", in_chunks + "10000000000000003\r\nabc\r\n0\r\n\r\n",
      in_chunks + "\r\nabc\r\n0\r\n\r\n", in_chunks + "3;a\nb\r\nabc\r\n0\r\n\r\n",
      // Request lines.
      "GET  /hello HTTP/1.1\r\nHost: x\r\n\r\n", "GET /hello\tHTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /hello  HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n"s,
      "G@T /hello HTTP/1.1\r\nHost: x\r\n\r\n"};
  for (const auto& bytes : bad) {
    INFO(bytes);
    bool closed = false;
    const auto status = say(server, bytes, &closed).status;
    CHECK((status == 400 || status == 505));  // the text after the path is parsed as a version
    CHECK(closed);
  }
  for (const std::string coding : {"chunked, chunked", "\vchunked", "chunked;q=1", "identity"}) {
    INFO(coding);
    const auto status =
        say(server, post + "Transfer-Encoding: " + coding + "\r\n\r\n0\r\n\r\n").status;
    CHECK((status == 501 || status == 400));
  }
  CHECK(server.site.served == 0);
}

TEST_CASE("header fields that HTTP/2 forbids end their stream, and no handler sees them") {
  test_server server;
  using namespace std::string_literals;
  const std::vector<std::pair<std::string, std::string>> bad{{"connection", "close"},
                                                             {"keep-alive", "1"},
                                                             {"proxy-connection", "close"},
                                                             {"upgrade", "websocket"},
                                                             {"te", "gzip"},
                                                             {"transfer-encoding", "chunked"},
                                                             {"x y", "a"},
                                                             {"x", "a\nb"},
                                                             {"x", "a\rb"},
                                                             {"x", "a\0b"s},
                                                             {":path2", "/"},
                                                             {"content-length", "3, 3"},
                                                             {"content-length", "+3"},
                                                             {"content-length", "4"},
                                                             {"host", "another"}};
  for (const auto& [name, value] : bad) {
    INFO(name << ": " << value);
    test::http2_client client{server.client()};
    const auto id = client.start("POST", "/echo", "abc", {{name, value}});
    CHECK(client.run([&] { return client.at(id).ended || client.at(id).reset; }));
    CHECK((client.at(id).reset || client.at(id).answer.status == 400));
  }
  CHECK(server.site.served == 0);
  test::http2_client client{server.client()};
  CHECK(client.request("POST", "/echo", "abc", {{"host", "test"}}).status == 200);
}

TEST_CASE("garbage on a plain port and on a TLS port ends that connection only") {
  for (const auto how : {listening::tls, listening::plain}) {
    test_server server{{}, how};
    http_client bystander{server.client()};
    auto raw = server.client();
    raw.tls = false;
    for (const std::string& bytes :
         {std::string(100, '\0'), std::string("\x16\x03\x01\xff\xff garbage"),
          std::string(300'000, 'G'), std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
          std::string("\xff\xfe\xfd")}) {
      test::wire stranger{raw};
      stranger.send(bytes);
      stranger.end_sending();
      CHECK(stranger.wait_for_end());
    }
    CHECK(bystander.get("/hello").status == 200);
    CHECK(eventually([&] { return server.server().stats().now_connections == 1; }));
  }
}

TEST_CASE("plain HTTP on a TLS port is refused with a hint") {
  test_server server;
  auto options = server.client();
  options.tls = false;
  http_client client{options};
  const auto answer = client.get("/hello");
  CHECK(answer.status == 400);
  CHECK(answer.body == "Client sent an HTTP request to an HTTPS server.\n");
  CHECK(server.site.served == 0);
}

TEST_CASE("slow clients are cut off: in the handshake, before and in the head, in the body") {
  server::http_options options;
  options.handshake_timeout = 150ms;
  test_server strict{options};
  auto raw = strict.client();
  raw.tls = false;
  test::wire silent{raw};
  CHECK(silent.wait_for_end());

  options = {};
  // Each client has sent its part by then, on a busy machine too.
  options.header_timeout = options.request_timeout = 3s;
  test_server server{options};
  test::wire no_request{server.client()};
  http_client in_head{server.client()};
  REQUIRE(in_head.connection().send("GET /hello HTTP/1.1\r\nHo"));
  http_client in_body{server.client()};
  in_body.send_request("POST", "/echo", {}, {{"Content-Length", "10"}});
  CHECK(no_request.wait_for_end());
  CHECK(in_head.receive_answer().status == 408);
  CHECK(in_head.connection().wait_for_end());
  CHECK(in_body.receive_answer().status == 408);
  CHECK(in_body.connection().wait_for_end());
  CHECK(strict.server().stats().timed_out + server.server().stats().timed_out >= 3);
}

TEST_CASE("a head that trickles in does not extend its time") {
  server::http_options options;
  options.header_timeout = 1s;
  test_server server{options, listening::plain};
  http_client client{server.client()};
  client.connection().send("GET /hello HTTP/1.1\r\n");
  // Otherwise the number of fields would end it, with a 431.
  for (int i = 0; i < 1'000 && !client.connection().has_input(); ++i) {
    client.connection().send("X: y\r\n");
    eventually([&] { return client.connection().has_input(); }, 20ms);
  }
  CHECK(client.receive_answer().status == 408);
}

TEST_CASE("a request that is not answered in time is a 504, unless it is a long one") {
  server::http_options options;
  options.request_timeout = 150ms;
  test_server server{options};
  server.site.admission = [](server::request& head) -> std::optional<server::response> {
    head.long_running = head.query.flag("watch");
    return std::nullopt;
  };
  http_client client{server.client()};
  const auto answer = client.get("/never");
  CHECK(answer.status == 504);
  CHECK(answer.body.find("\"reason\":\"Timeout\"") != std::string::npos);
  CHECK(client.get("/hello").status == 200);
  client.send_request("GET", "/never?watch=1");
  CHECK_FALSE(eventually([&] { return client.connection().has_input(); }, 500ms));
}

TEST_CASE("an idle connection is closed after its time") {
  server::http_options options;
  options.idle_timeout = 150ms;
  test_server server{options};
  http_client client{server.client()};
  CHECK(client.get("/hello").status == 200);
  CHECK(client.connection().wait_for_end());
}

TEST_CASE("connections over the limit are refused, and there is room again when others go") {
  server::http_options options;
  options.connections = 3;
  test_server server{options};
  std::vector<std::unique_ptr<http_client>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<http_client>(server.client_with_certificate()));
    REQUIRE(clients.back()->get("/hello").status == 200);
  }
  CHECK_THROWS(http_client{server.client()});
  CHECK(eventually([&] { return server.server().stats().refused == 1; }));
  clients.pop_back();
  CHECK(eventually([&] { return server.server().stats().now_connections == 2; }));
  http_client again{server.client()};
  CHECK(again.get("/hello").status == 200);
}

TEST_CASE("a client that asks without end and never reads costs bounded memory and is cut off") {
  server::http_options options;
  options.stall_timeout = 300ms;
  test_server server{options};
  server.site.on("/big", [](auto&, auto& answer) {
    answer.respond(text_response(std::string(1 << 20, 'x')));
  });
  auto slow = server.client();
  slow.receive_buffer_bytes = 4096;
  slow.timeout = 1s;
  http_client client{slow};
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += "GET /big HTTP/1.1\r\nHost: x\r\n\r\n";
  client.connection().send(many);
  http_client other{server.client()};
  CHECK(other.get("/hello").status == 200);
  CHECK(eventually([&] { return server.server().stats().timed_out == 1; }));
  // At most as many answers were made as fit into the sockets.
  CHECK(server.site.served < 20);
}
