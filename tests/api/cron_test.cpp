#include "api/values/cron.hpp"

#include <catch2/catch.hpp>

#include "api/values/cidr.hpp"

using namespace troupe::api;

TEST_CASE("schedules that cron knows are accepted") {
  for (const auto* text :
       {"* * * * *", "*/5 * * * *", "0 0 1 1 *", "1,2,3 4-6 1-31/2 jan-mar mon-fri", "0 0 * * SUN",
        "59 23 31 12 6", "@hourly", "@every 1h30m", "@every 1.5h", "? * * * ?", "5/15 * * * *"})
    CHECK(check_schedule(text) == error_messages{});
}

TEST_CASE("schedules that cron does not know are refused with the reason") {
  const std::pair<const char*, const char*> faults[] = {
      {"", "empty spec string"},
      {"* * * *", "expected exactly 5 fields, found 4: [* * * *]"},
      {"60 * * * *", "end of range (60) above maximum (59): 60"},
      {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
      {"5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"},
      {"*/0 * * * *", "step of range should be a positive number: */0"},
      {"a * * * *", "failed to parse int from a"},
      {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
      {"1/2/3 * * * *", "too many slashes: 1/2/3"},
      {"* * * * 7", "end of range (7) above maximum (6): 7"},
      {"@sometimes", "unrecognized descriptor: @sometimes"},
      {"@every soon", "failed to parse duration @every soon"},
  };
  for (const auto& [text, fault] : faults)
    CHECK(check_schedule(text) == error_messages{fault});
}

TEST_CASE("ranges of addresses contain each other by their bits") {
  const auto range = [](const char* text) {
    const auto made = cidr::parse(text);
    REQUIRE(made);
    return *made;
  };
  CHECK(range("10.0.0.0/8").contains(range("10.1.0.0/16")));
  CHECK(range("10.0.0.0/8").contains(range("10.0.0.0/8")));
  CHECK_FALSE(range("10.0.0.0/8").contains(range("11.0.0.0/16")));
  CHECK_FALSE(range("10.1.0.0/16").contains(range("10.0.0.0/8")));
  CHECK_FALSE(range("0.0.0.0/0").contains(range("::/0")));
  CHECK(range("2001:db8::/32").contains(range("2001:db8:1::/48")));
  CHECK(range("10.0.0.0/8").is_canonical());
  CHECK_FALSE(range("10.0.0.1/8").is_canonical());
  CHECK_FALSE(range("2001:DB8::/32").is_canonical());
  for (const auto* text : {"", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/", "::/129", "a/8", "/8"})
    CHECK_FALSE(cidr::parse(text));
  CHECK(canonical_ip("2001:DB8::1") == "2001:db8::1");
  CHECK(ip_family("10.0.0.1") == "IPv4");
  CHECK(ip_family("::1") == "IPv6");
  CHECK(ip_family("x").empty());
  for (const auto* each : {"127.0.0.1", "127.1.2.3", "::1"})
    CHECK(is_loopback_ip(each));
  for (const auto* each : {"128.0.0.1", "12.7.0.1", "::2", "127.x", ""})
    CHECK_FALSE(is_loopback_ip(each));
}
