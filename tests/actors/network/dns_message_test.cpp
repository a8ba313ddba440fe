#include "actors/network/dns/dns_message.hpp"

#include <catch2/catch.hpp>

#include "actors/network/defaults.hpp"
#include "actors/network/dns/dns_name.hpp"
#include "actors/network/dns_questions.hpp"

namespace troupe::test {

using namespace actors::dns;

TEST_CASE("a question is read as it was asked, its name in lower case", "[dns]") {
  const auto bytes = ask("Web.Default.svc", record_type::srv, 4'096);
  const auto read = read_question(bytes);
  REQUIRE(read);
  CHECK(read->id == 0x1234);
  CHECK(read->recursion_desired);
  CHECK(read->edns);
  CHECK(read->udp_limit() == actors::network_defaults::dns_most_udp_bytes);
  CHECK(to_text(read->name) == "web.default.svc");
  CHECK(read->text.find("Web") != std::string::npos);
}

TEST_CASE("a question that is cut anywhere is refused or met with silence", "[dns]") {
  const auto bytes = ask("web.default.svc", record_type::a, 1'232);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO(size);
    const auto read = read_question(bytes.substr(0, size));
    REQUIRE_FALSE(read);
    if (size < 12)
      CHECK(read.error().empty());
    else
      CHECK(code_of(read.error()) == response_code::format_error);
  }
}

TEST_CASE("an answer is not answered", "[dns]") {
  auto bytes = ask("web.default.svc", record_type::a);
  bytes[2] = static_cast<char>(0x80);
  const auto read = read_question(bytes);
  REQUIRE_FALSE(read);
  CHECK(read.error().empty());
}

TEST_CASE("a name of a question that points to itself is refused", "[dns]") {
  auto bytes = ask("", record_type::a).substr(0, 12);
  bytes += std::string("\xc0\x0c\x00\x01\x00\x01", 6);
  const auto read = read_question(bytes);
  REQUIRE_FALSE(read);
  CHECK(code_of(read.error()) == response_code::format_error);
}

TEST_CASE("an unknown version of EDNS is named as such", "[dns]") {
  auto bytes = ask("web", record_type::a, 1'232);
  bytes[bytes.size() - 5] = 1;
  const auto read = read_question(bytes);
  REQUIRE_FALSE(read);
  const auto heard = heard_in(read.error());
  CHECK(heard.edns);
  CHECK(heard.extended_code == 1);
}

TEST_CASE("a large answer is truncated to the question, and whole by TCP", "[dns]") {
  const auto bytes = ask("many", record_type::a);
  const auto asked = read_question(bytes);
  REQUIRE(asked);
  const auto fill = [&](std::size_t limit) {
    reply made{*asked, true};
    for (int i = 0; i < 100; ++i)
      made.answer(asked->name, address_record("10.0.0." + std::to_string(i)), 5);
    return std::move(made).take(limit);
  };
  const auto cut = heard_in(fill(asked->udp_limit()));
  CHECK(cut.truncated);
  CHECK(cut.answers.empty());
  const auto whole = heard_in(fill(65'535));
  CHECK_FALSE(whole.truncated);
  CHECK(whole.answers.size() == 100);
}

TEST_CASE("what does not fit into any message is left out", "[dns]") {
  const auto bytes = ask("many", record_type::a);
  const auto asked = read_question(bytes);
  reply made{*asked, true};
  for (int i = 0; i < 10'000; ++i)
    made.answer(asked->name, address_record("10.0.0.1"), 5);
  const auto out = std::move(made).take(65'535);
  CHECK(out.size() <= 65'535);
  CHECK(heard_in(out).answers.size() > 3'000);
}

TEST_CASE("an answer with another id or to another question is not taken", "[dns]") {
  const auto bytes = ask("example.com", record_type::a);
  const auto asked = read_question(bytes);
  reply made{*asked, false};
  made.answer(asked->name, address_record("192.0.2.1"), 60);
  const auto answer = std::move(made).take(512);
  CHECK(read_answer(answer, *asked, 0x1234)->answers.size() == 1);
  CHECK_FALSE(read_answer(answer, *asked, 0x1235));
  auto other = *asked;
  other.name = *to_wire("example.org");
  CHECK_FALSE(read_answer(answer, other, 0x1234));
}

TEST_CASE("names are compared without case and reversed as nibbles or bytes", "[dns]") {
  CHECK(to_wire("A.b.") == to_wire("a.B"));
  CHECK_FALSE(to_wire("a..b"));
  CHECK_FALSE(to_wire(std::string(64, 'a')));
  CHECK(to_text(*reverse_name("10.96.0.1")) == "1.0.96.10.in-addr.arpa");
  CHECK(to_text(*reverse_name("fd00::1")).starts_with("1.0.0.0."));
  CHECK(is_below(*to_wire("a.cluster.local"), *to_wire("cluster.local")));
  CHECK_FALSE(is_below(*to_wire("acluster.local"), *to_wire("cluster.local")));
}

}  // namespace troupe::test
