// Responses compressed by gzip: as functions, and on the wire.
#include "server/http/compression.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <random>

#include "server/defaults.hpp"
#include "server/fixtures/rest_fixture.hpp"

using namespace troupe;
using namespace troupe::server;
using namespace troupe::server::testing;

namespace {

std::string unzipped(std::string_view text) {
  z_stream state{};
  REQUIRE(inflateInit2(&state, 15 + 16) == Z_OK);
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.avail_in = static_cast<uInt>(text.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK) {
    char part[65'536];
    state.next_out = reinterpret_cast<Bytef*>(part);
    state.avail_out = sizeof part;
    result = inflate(&state, Z_NO_FLUSH);
    out.append(part, sizeof part - state.avail_out);
  }
  inflateEnd(&state);
  CHECK(result == Z_STREAM_END);
  CHECK(state.avail_in == 0);
  return out;
}

// All parts of a body joined, and the size of the largest.
std::pair<std::string, std::size_t> sent(server::body content) {
  std::string all = content.text();
  std::size_t largest = all.size();
  for (auto rest = content.release_rest(); rest;) {
    server::body more;
    if (!rest(more)) rest = nullptr;
    all += more.text();
    largest = std::max(largest, more.size_bytes());
  }
  return {all, largest};
}

}  // namespace

TEST_CASE("which clients accept gzip") {
  for (const auto* yes : {"gzip", "deflate, gzip;q=1.0", "gzip;q=0.5, br", "*", "br,gzip"})
    CHECK(takes_gzip(yes));
  for (const auto* no : {"", "identity", "gzip;q=0", "br, deflate", "gzipped"})
    CHECK_FALSE(takes_gzip(no));
}

TEST_CASE("a body of any pieces is the same after compression, in bounded parts") {
  std::mt19937 random{7};
  for (int round = 0; round < 30; ++round) {
    const auto piece = [&] {
      return std::string(random() % 400'000, static_cast<char>('a' + random() % 26)) +
             std::to_string(random());
    };
    std::string expected;
    response answer;
    const auto first = random() % 4;
    for (unsigned i = 0; i < first; ++i) {
      expected += piece();
      answer.content = [&] {
        server::body made;
        made.add(expected);
        return made;
      }();
    }
    std::vector<std::string> later(random() % 5);
    for (auto& each : later) {
      if (random() % 4 != 0) each = piece();
      expected += each;
    }
    answer.content.continue_with([later, next = std::size_t{0}](server::body& to) mutable {
      if (next < later.size()) to.add(later[next++]);
      return next < later.size();
    });
    compress(answer);
    const auto [bytes, largest] = sent(std::move(answer.content));
    CHECK(unzipped(bytes) == expected);
    CHECK(largest <= server::defaults::compress_part + 65'536);
  }
}

TEST_CASE("a short answer stays as it is") {
  response answer;
  answer.content.add(std::string(server::defaults::compress_from - 1, 'x'));
  compress(answer);
  CHECK(answer.fields.empty());
  CHECK(answer.content.size_bytes() == server::defaults::compress_from - 1);
}

TEST_CASE("unread answers keep a bounded number of compressions") {
  const auto is_packed = [](const response& answer) { return !answer.fields.empty(); };
  const auto long_answer = [] {
    response answer;
    answer.content.add(std::string(server::defaults::compress_from, 'x'));
    compress(answer);
    return answer;
  };
  std::vector<response> unread;
  for (std::size_t i = 0; i < server::defaults::compressions; ++i) {
    unread.push_back(long_answer());
    REQUIRE(is_packed(unread.back()));
  }
  const auto plain = long_answer();
  CHECK_FALSE(is_packed(plain));
  CHECK(plain.content.size_bytes() == server::defaults::compress_from);
  unread.pop_back();
  CHECK(is_packed(long_answer()));
}

TEST_CASE("a long list is compressed only for clients that accept it") {
  rest_test server;
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  for (int i = 0; i < 8; ++i)
    REQUIRE(server
                .post(maps, fmt::format(R"({{"metadata":{{"name":"m{}"}},"data":{{"d":"{}"}}}})", i,
                                        std::string(20'000, 'x')))
                .status == 201);
  const auto plain = server.get(maps);
  CHECK(plain.headers.count("content-encoding") == 0);
  auto packed = server.get(maps, {{"accept-encoding", "gzip"}});
  CHECK(packed.headers["content-encoding"] == "gzip");
  CHECK(packed.headers["vary"] == "accept-encoding");
  CHECK(packed.text().size() < plain.text().size() / 10);
  CHECK(unzipped(packed.text()) == plain.text());
  CHECK(server.get(maps + "/m0", {{"accept-encoding", "gzip"}}).headers.count("content-encoding") ==
        0);
}
