#include "server/connections/websocket.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "server/connections/websocket_frames.hpp"
#include "server/fixtures/http_fixture.hpp"
#include "server/fixtures/stream_clients.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using server::websocket_opcode;
using server::websocket_reader;
using server::testing::masked;
using test::http_client;

namespace {

struct heard {
  std::string all;  // "opcode:payload;" of each
  websocket_reader::receiver receiver() {
    return [this](websocket_opcode opcode, const std::string& payload) {
      all += std::to_string(static_cast<int>(opcode)) + ":" + payload + ";";
    };
  }
};

const http_client::fields handshake{{"Connection", "keep-alive, Upgrade"},
                                    {"Upgrade", "WebSocket"},
                                    {"Sec-WebSocket-Version", "13"},
                                    {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};

// Echoes its input, with the subprotocol in front of text.
struct echo_route {
  explicit echo_route(test_server& server) {
    server.site.on("/ws", [this](auto& request, auto& answer) {
      socket = server::websocket::accept(
          *request, answer, {"second", "first"},
          {[this](const std::string& payload, bool binary) {
             socket.send(binary ? payload : socket.protocol() + " " + payload, binary);
             return true;
           },
           {},
           [this] { ++ponged; },
           [this] { ++closed; }});
    });
  }
  server::websocket socket;
  std::atomic<int> ponged{0}, closed{0};
};

}  // namespace

TEST_CASE("frames cut in any places come out as the messages that went in") {
  std::mt19937 random{11};
  for (int round = 0; round < 300; ++round) {
    std::string wire, expected;
    for (int i = 0; i < 6; ++i) {
      const std::string payload(random() % 3 == 0 ? random() % 70'000 : random() % 200,
                                static_cast<char>('a' + i));
      if (random() % 3 == 0) {
        wire += masked(websocket_opcode::text, payload, false);
        wire += masked(websocket_opcode::ping, "p");
        wire += masked(websocket_opcode::continuation, "tail");
        expected += "9:p;1:" + payload + "tail;";
      } else {
        wire += masked(websocket_opcode::binary, payload);
        expected += "2:" + payload + ";";
      }
    }
    heard got;
    websocket_reader reader{1 << 20};
    for (std::size_t at = 0; at < wire.size();) {
      const auto size = std::min<std::size_t>(wire.size() - at, 1 + random() % 20'000);
      REQUIRE_FALSE(reader.feed(std::string_view(wire).substr(at, size), got.receiver()));
      at += size;
    }
    REQUIRE(got.all == expected);
  }
}

TEST_CASE("frames that break the rules are named with the code to close with") {
  const auto close_code = [](const std::string& bytes) {
    heard got;
    return websocket_reader{1000}.feed(bytes, got.receiver());
  };
  CHECK(close_code(server::websocket_head(websocket_opcode::text, 1) + "x") == 1002);  // not masked
  CHECK(close_code("\xc1\x80") == 1002);  // reserved bit
  CHECK(close_code("\x83\x80") == 1002);  // unknown opcode
  CHECK(close_code(masked(websocket_opcode::continuation, "x")) == 1002);
  CHECK(close_code(masked(websocket_opcode::text, "x", false) +
                   masked(websocket_opcode::text, "y")) == 1002);
  CHECK(close_code(masked(websocket_opcode::ping, std::string(126, 'p'))) == 1002);
  CHECK(close_code(masked(websocket_opcode::ping, "p", false)) == 1002);
  CHECK(close_code(masked(websocket_opcode::text, std::string(1001, 't'))) == 1009);
  CHECK(close_code("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x01\x02\x03\x04") == 1009);
  CHECK(close_code(masked(websocket_opcode::text, std::string(600, 't'), false) +
                   masked(websocket_opcode::continuation, std::string(600, 't'))) == 1009);
}

TEST_CASE("the reason in a close frame is cut between characters") {
  const std::string ascii(122, 'a');
  CHECK(server::websocket_close_payload(1000, ascii + "\xC3\xA9") == "\x03\xE8" + ascii);
  CHECK(server::websocket_close_payload(1000, "a" + ascii + "a") == "\x03\xE8\x61" + ascii);
}

TEST_CASE("random bytes never upset the reader of frames") {
  std::mt19937 random{5};
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 64, '\0');
    for (char& c : bytes)
      c = static_cast<char>(random());
    heard got;
    websocket_reader reader{4096};
    static_cast<void>(reader.feed(bytes, got.receiver()));
    CHECK(got.all.size() <= bytes.size() + 200);
  }
}

TEST_CASE("a WebSocket is opened with the key of the standard's example and carries both kinds") {
  test_server server;
  echo_route echo{server};
  http_client client{server.client()};
  auto headers = handshake;
  headers["Sec-WebSocket-Protocol"] = "zeroth, first";
  client.send_request("GET", "/ws", {}, headers);
  // Sent before the response arrived, as a client may do.
  client.connection().send(masked(websocket_opcode::text, "early"));
  const auto head = client.receive_head();
  CHECK(head.status == 101);
  CHECK(head.header("sec-websocket-accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  CHECK(head.header("sec-websocket-protocol") == "first");
  CHECK(head.header("connection") == "upgrade");
  CHECK(head.header("transfer-encoding").empty());
  const auto expect = [&](websocket_opcode opcode, const std::string& payload) {
    const auto frame = server::websocket_head(opcode, payload.size()) + payload;
    CHECK(client.receive_exactly(frame.size()) == frame);
  };
  expect(websocket_opcode::text, "first early");
  client.connection().send(masked(websocket_opcode::binary, std::string(100'000, 'b')));
  expect(websocket_opcode::binary, std::string(100'000, 'b'));
  client.connection().send(masked(websocket_opcode::ping, "are you there"));
  expect(websocket_opcode::pong, "are you there");
  echo.socket.ping();
  expect(websocket_opcode::ping, "");
  client.connection().send(masked(websocket_opcode::pong, ""));
  CHECK(eventually([&] { return echo.ponged == 1; }));
  CHECK(echo.socket.open());
  client.connection().send(
      masked(websocket_opcode::close, server::websocket_close_payload(1000, "bye")));
  expect(websocket_opcode::close, server::websocket_close_payload(1000, ""));
  CHECK(client.connection().wait_for_end());
  CHECK(eventually([&] { return echo.closed == 1; }));
  CHECK_FALSE(echo.socket.open());
}

TEST_CASE("a WebSocket that breaks the rules, or that our side drops, is closed with a code") {
  test_server server;
  echo_route echo{server};
  http_client rude{server.client()};
  rude.send_request("GET", "/ws", {}, handshake);
  CHECK(rude.receive_head().status == 101);
  rude.connection().send("\xff\xff\xff");
  CHECK(rude.receive_exactly(4) == "\x88\x02\x03\xea");
  CHECK(rude.connection().wait_for_end());
  CHECK(eventually([&] { return echo.closed == 1; }));

  http_client second{server.client()};
  second.send_request("GET", "/ws", {}, handshake);
  CHECK(second.receive_head().status == 101);
  echo.socket = {};
  CHECK(second.receive_exactly(4) == "\x88\x02\x03\xe9");
  CHECK(second.connection().wait_for_end());
  CHECK(eventually([&] { return echo.closed == 2; }));
}

TEST_CASE("an invalid handshake is a 400, and over HTTP/2 there is no upgrade") {
  test_server server;
  echo_route echo{server};
  http_client client{server.client()};
  CHECK(client.get("/ws").status == 400);
  auto headers = handshake;
  headers["Sec-WebSocket-Version"] = "8";
  CHECK(client.get("/ws", headers).status == 400);
  headers = handshake;
  headers["Sec-WebSocket-Protocol"] = "unknown";
  CHECK(client.get("/ws", headers).status == 400);
  CHECK_FALSE(echo.socket.open());

  server.site.on("/tunnel", [](auto&, auto& answer) {
    answer.start_tunnel({}, {{}, {}, [](std::string_view) { return true; }});
  });
  test::http2_client second{server.client()};
  const auto id = second.start("GET", "/tunnel");
  CHECK(second.run([&] { return second.at(id).ended; }));
  CHECK(second.at(id).error_code == 0xd);  // HTTP_1_1_REQUIRED
}

TEST_CASE("a tunnel whose receiver pauses reads no more until it is resumed") {
  test_server server;
  std::mutex mutex;
  std::string received;
  server::stream tunnel;
  server.site.on("/tunnel", [&](auto&, auto& answer) {
    server::response head;
    head.fields.push_back({"upgrade", "bytes"});
    tunnel = answer.start_tunnel(std::move(head), {{}, {}, [&](std::string_view bytes) {
                                                     const std::lock_guard lock{mutex};
                                                     received += bytes;
                                                     return false;
                                                   }});
  });
  const auto so_far = [&] {
    const std::lock_guard lock{mutex};
    return received.size();
  };
  http_client client{server.client()};
  client.send_request("GET", "/tunnel");
  CHECK(client.receive_head().status == 101);
  const std::string bytes(60'000, 'b');  // fits into the sockets
  REQUIRE(client.connection().send(bytes));
  REQUIRE(eventually([&] { return so_far() > 0; }));
  CHECK_FALSE(eventually([&] { return so_far() > 16'384; }, std::chrono::milliseconds{50}));
  while (so_far() < bytes.size()) {
    const auto before = so_far();
    tunnel.resume();
    REQUIRE(eventually([&] { return so_far() > before; }));
  }
  CHECK(received == bytes);
}
