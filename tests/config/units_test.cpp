#include "config/units.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace troupe::config;
using namespace std::chrono_literals;

TEST_CASE("durations are read in Go's form") {
  CHECK(parse_duration("10s") == 10s);
  CHECK(parse_duration("1h30m") == 90min);
  CHECK(parse_duration("1m500ms") == 60500ms);
  CHECK(parse_duration("0") == 0s);
  CHECK(parse_duration("0s") == 0s);
}

TEST_CASE("an invalid duration is refused") {
  const auto text =
      GENERATE(as<std::string>{}, "", "10", "s", "10x", "-1s", "1s1h", "1s1s", "1.5s", " 1s", "1s ",
               "99999999999999999999s", "9223372036854775807h", "9223372036854775s900ms");
  CAPTURE(text);
  CHECK_FALSE(parse_duration(text));
}

TEST_CASE("sizes are read as Kubernetes' quantities") {
  CHECK(parse_size("3Mi")->bytes == 3 << 20);
  CHECK(parse_size("1k")->bytes == 1000);
  CHECK(parse_size("512")->bytes == 512);
  const auto bad = GENERATE(as<std::string>{}, "", "Mi", "-1", "1.5Mi", "1mi", "1 Mi", "1Mi1Ki",
                            "9223372036854775807Ki");
  CAPTURE(bad);
  CHECK_FALSE(parse_size(bad));
}

TEST_CASE("an IP address has one form, and no port or zone") {
  CHECK(parse_ip_address("10.0.0.5") == ip_address{"10.0.0.5"});
  CHECK(parse_ip_address("FD00:0::5") == ip_address{"fd00::5"});
  CHECK(parse_ip_address("")->empty());
  const std::string_view with_nul{"10.0.0.5\0", 9};
  for (const std::string_view bad :
       {"10.0.0", "10.0.0.5:1", "[fd00::5]", "fe80::1%lo", "node", "::g"})
    CHECK_FALSE(parse_ip_address(bad));
  CHECK_FALSE(parse_ip_address(with_nul));
}

TEST_CASE("addresses name a host and a port") {
  CHECK(parse_address("127.0.0.1:6443") == address{"127.0.0.1", 6443});
  CHECK(parse_address("[::1]:0") == address{"::1", 0});
  CHECK(parse_address("localhost:80") == address{"localhost", 80});
  CHECK(parse_address("")->empty());
  const auto bad =
      GENERATE(as<std::string>{}, "127.0.0.1", ":80", "::1:80", "[::1]", "[]:80", "[localhost]:80",
               "h:65536", "h:-1", "h:+1", "h:", "h:8o", "a b:80", "h/x:80", "\n:80");
  CAPTURE(bad);
  CHECK_FALSE(parse_address(bad));
}

TEST_CASE("a printed value is read as the same value") {
  std::mt19937_64 random(20);
  std::uniform_int_distribution<int> bits(0, 62);
  for (int i = 0; i < 10'000; ++i) {
    const auto n = static_cast<std::int64_t>(random() >> (63 - bits(random)) >> 1);
    CAPTURE(n);
    REQUIRE(parse_duration(print(duration{n})) == duration{n});
    REQUIRE(parse_size(print(byte_size{n})) == byte_size{n});
    const address endpoint{n % 2 == 0 ? "fe80::1%lo" : "node-1.local",
                           static_cast<std::uint16_t>(n)};
    REQUIRE(parse_address(print(endpoint)) == endpoint);
  }
}
