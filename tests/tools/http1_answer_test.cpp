// The answers that the load generator reads.
#include "benchmark/http_load/http1_answer.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using troupe::bench::http1_answer;

namespace {

const std::string ok_line = "HTTP/1.1 200 OK\r\n";

struct example_answer {
  std::string text;
  int status;
  std::size_t size;
};

const std::vector<example_answer> whole_answers{
    {ok_line + "content-length: 5\r\ndate: now\r\n\r\nabcde", 200, 5},
    {"HTTP/1.1 404 Not Found\r\nDate: now\r\nContent-Length:3 \r\n\r\nabc", 404, 3},
    {"HTTP/1.1 201 Created\r\nX-Content-Length: 7\r\nContent-Length: 0\r\n\r\n", 201, 0},
    {ok_line + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n",
     200, 19},
    {ok_line + "transfer-encoding: Chunked\r\n\r\nA;x=y\r\n0\r\n\r\n34567\r\n0\r\n\r\n", 200, 10},
    {ok_line + "Transfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\nOther: 0\r\n\r\n", 200, 0},
};

bool is_refused(const std::string& text) {
  http1_answer answer;
  try {
    answer.read(text);
  } catch (const std::runtime_error&) {
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("an answer is read in two parts, cut at each byte") {
  http1_answer answer;
  for (const auto& each : whole_answers) {
    const std::string_view text = each.text;
    for (std::size_t cut = 0; cut < text.size(); ++cut) {
      INFO(each.text << "\ncut at " << cut);
      REQUIRE_FALSE(answer.read(text.substr(0, cut)));
      REQUIRE(answer.read(text.substr(cut)));
      REQUIRE(answer.status() == each.status);
      REQUIRE(answer.size() == each.size);
    }
  }
}

TEST_CASE("an answer is read byte by byte") {
  http1_answer answer;
  for (const auto& each : whole_answers) {
    INFO(each.text);
    for (std::size_t at = 0; at < each.text.size(); ++at)
      REQUIRE(answer.read({&each.text[at], 1}) == (at + 1 == each.text.size()));
    CHECK(answer.status() == each.status);
    CHECK(answer.size() == each.size);
  }
}

TEST_CASE("what is no answer, or has no known end, is refused") {
  const auto chunked = ok_line + "Transfer-Encoding: chunked\r\n\r\n";
  for (const auto& wrong :
       {ok_line + "\r\nabc", ok_line + "Transfer-Encoding: gzip\r\n\r\n",
        ok_line + "Content-Length: x\r\n\r\n", ok_line + "Content-Length:\r\n\r\n",
        ok_line + "Content-Length: 3x\r\n\r\nabc", ok_line + "Content-Length: 3\r\n\r\nabcd",
        "SSH-2.0\r\n\r\n" + std::string(20, 'x'), chunked + "x\r\n", chunked + "\r\n",
        chunked + "3\r\nabcdexyz\r\n", chunked + "0\r\n\r\nHTTP/1.1",
        chunked + std::string(100'000, '1'), std::string(100'000, 'h')}) {
    INFO(wrong.substr(0, 100));
    CHECK(is_refused(wrong));
  }
}
