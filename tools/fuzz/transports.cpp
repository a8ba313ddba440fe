// HTTP/1.1 in both directions, WebSocket, SPDY, request targets, continue tokens.
#include <algorithm>

#include "actors/kubelet/os/spdy_frames.hpp"
#include "server/connections/http1_parser.hpp"
#include "server/connections/websocket_frames.hpp"
#include "server/http/http.hpp"
#include "server/http/query.hpp"
#include "server/http/request_info.hpp"
#include "server/rest/proxy/response_parser.hpp"
#include "server/rest/requests/continue_token.hpp"
#include "tools/fuzz/entries.hpp"

namespace troupe::fuzz {
namespace {

std::vector<std::string> requests() {
  return {
      "\x08GET /api/v1/pods?limit=5 HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n\r\n",
      "\x20POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3;e=1\r\nabc\r\n0\r\n\r\n",
      "\x30PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabcGET /",
      std::string("\x01") + "GET http://a/b HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"};
}

std::vector<std::string> answers() {
  return {
      std::string{"\x08HTTP/1.1 200 OK\r\nContent-Length: 3\r\nA: b\r\n\r\nabc"},
      std::string{"\x01HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;e=1\r\n"
                  "def\r\n0\r\nT: x\r\n\r\n"},
      std::string{"\x20HTTP/1.0 200 OK\r\n\r\nup to the end"},
      std::string{"\x02HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 S\r\nUpgrade: x\r\n\r\nbytes"}};
}

// Read in pieces or at once, the answer must be the same.
void read_answer(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t piece = 1 + static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  const auto read = [bytes](std::size_t piece) {
    server::response_parser parser{false};
    std::string body;
    bool wrong = false;
    for (auto rest = bytes; !rest.empty() && !wrong;) {
      const auto part = rest.substr(0, piece);
      rest.remove_prefix(part.size());
      wrong = parser.feed(part).has_value();
      if (!wrong) body += parser.take_body();
    }
    wrong = wrong || parser.end().has_value();
    return wrong ? std::string{} : std::to_string(parser.head()->status) + body;
  };
  require(read(piece) == read(bytes.size() + 1), "an answer does not depend on its pieces");
}

// The first byte selects the sizes of the pieces.
void read_request(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t piece = 1 + static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  server::http1_parser parser;
  server::request into;
  constexpr server::http1_parser::limits bounds{4096, 4096};
  parser.begin(into, bounds);
  std::size_t seen = 0;
  for (int guard = 0; guard < 20'000; ++guard) {
    seen = std::min(bytes.size(), seen + piece);
    const auto result = parser.feed(bytes.substr(0, seen));
    require(result.consumed <= seen, "a parser consumes what it was given");
    require(into.content.size() <= bounds.body_bytes, "a body has its bound");
    bytes.remove_prefix(result.consumed);
    seen -= result.consumed;
    using step = server::http1_parser::step;
    if (result.step == step::complete) {
      into = {};
      parser.begin(into, bounds);
      if (bytes.empty()) return;
      seen = 0;
    } else if (result.step == step::head) {
      static_cast<void>(parser.keep_alive());
      static_cast<void>(parser.expects_continue());
    } else if (result.step != step::need_more) {
      return require(parser.problem() != nullptr, "a refusal says why");
    } else if (seen == bytes.size()) {
      return;
    }
  }
}

std::vector<std::string> frames() {
  return {std::string("\x81\x82\x01\x02\x03\x04hi", 8),
          std::string("\x01\x81\x01\x02\x03\x04h\x80\x81\x01\x02\x03\x04i", 14),
          std::string("\x89\x80\x01\x02\x03\x04\x88\x82\x01\x02\x03\x04\x02\xea", 14)};
}

void read_frames(std::string_view bytes) {
  server::websocket_reader reader{4096};
  std::size_t messages = 0;
  const auto half = bytes.size() / 2;
  for (const auto part : {bytes.substr(0, half), bytes.substr(half)})
    if (reader.feed(part, [&](server::websocket_opcode, const std::string& payload) {
          ++messages;
          require(payload.size() <= 4096, "a message has its bound");
        }))
      break;
  require(messages <= bytes.size(), "a message takes a byte at least");
}

std::vector<std::string> spdy_frames() {
  actors::spdy_writer writer;
  const auto opened = writer.write({.type = actors::spdy_type::syn_stream,
                                    .stream = 1,
                                    .headers = {{"streamtype", "data"}, {"port", "80"}}});
  return {"\x05" + opened + actors::spdy_data_head(1, 5, true) + "hello",
          "\x80" + writer.write({.type = actors::spdy_type::ping, .stream = 7}) +
              writer.write({.type = actors::spdy_type::rst_stream, .stream = 1, .status = 3})};
}

// The first byte selects the sizes of the pieces.
void read_spdy_frames(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t piece = 1 + static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  actors::spdy_reader reader;
  std::size_t data = 0;
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    if (reader.feed(bytes.substr(at, piece), [&](const actors::spdy_frame& frame) {
          data += frame.data.size();
          require(frame.headers.size() <= 100, "a frame has a bounded number of headers");
        }))
      break;
  require(data <= bytes.size(), "data comes from the wire");
}

std::vector<std::string> targets() {
  return {"/api/v1/namespaces/a/pods/b?watch=1&labelSelector=a%3Db", "http://h/x?y", "*",
          "/apis/apps/v1/watch/deployments", "/api/v1/namespaces/a/finalize?a=%zz+&=&&b"};
}

void read_target(std::string_view bytes) {
  server::request into;
  if (!server::parse_target(bytes, into)) return;
  require(into.path.find('\0') == std::string::npos, "a path hides no NUL");
  const auto info = server::parse_request_info("GET", into.path, into.query);
  static_cast<void>(info.long_running());
  into.query.each([](const std::string& name, const std::string& value) {
    require(server::percent_decode(server::percent_encode(name)) == name,
            "a name survives its escapes");
    static_cast<void>(value);
  });
}

std::vector<std::string> tokens() {
  return {server::encode_token({42, "default/web"}), server::encode_token({-1, "x"}), "e30="};
}

void read_token(std::string_view bytes) {
  const auto read = server::decode_token(bytes);
  if (!read) return require(read.error().code == 400, "a bad token is a bad request");
  const auto again = server::decode_token(server::encode_token(*read));
  require(again.has_value() && again->revision == read->revision && again->after == read->after,
          "a token survives its text");
}

}  // namespace

void add_transports(std::vector<entry>& to) {
  to.push_back({"http1", &requests, &read_request});
  to.push_back({"websocket", &frames, &read_frames});
  to.push_back({"spdy", &spdy_frames, &read_spdy_frames});
  to.push_back({"http1_answer", &answers, &read_answer});
  to.push_back({"target", &targets, &read_target});
  to.push_back({"continue_token", &tokens, &read_token});
}

}  // namespace troupe::fuzz
