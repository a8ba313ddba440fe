#include "api/values/quantity.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

namespace troupe::api {
namespace {

std::string canonical(std::string_view text) {
  const auto parsed = quantity::parse(text);
  return parsed ? parsed->str() : "none";
}

quantity amount(std::string_view text) {
  const auto parsed = quantity::parse(text);
  INFO(text);
  REQUIRE(parsed);
  return *parsed;
}

std::string random_amount(std::mt19937_64& random) {
  static const std::vector<std::string> suffixes = {"",   "n",  "u",  "m", "k",  "M",  "G",  "e2",
                                                    "Ki", "Mi", "Gi", "M", "e3", "E2", "e-2"};
  std::string out = random() % 5 == 0 ? "-" : "";
  out += std::to_string(random() % (random() % 3 == 0 ? 1'000'000'000 : 3000));
  if (random() % 2 == 0) out += "." + std::to_string(random() % 10000);
  return out + suffixes[random() % suffixes.size()];
}

}  // namespace

TEST_CASE("a quantity is written in its one form") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"0", "0"},
      {"-0", "0"},
      {"0m", "0"},
      {"0Ki", "0"},
      {"0.1", "100m"},
      {"1000m", "1"},
      {"1024Mi", "1Gi"},
      {"100m", "100m"},
      {"1.5", "1500m"},
      {"1.5Gi", "1536Mi"},
      {"1000", "1k"},
      {"1500", "1500"},
      {"1024", "1024"},
      {"1024Ki", "1Mi"},
      {"1025Ki", "1025Ki"},
      {"1Ki", "1Ki"},
      {"0.5Ki", "512"},
      {"0.0001Ki", "102400u"},
      {"1.5Ki", "1536"},
      {"1.3Ki", "1331200m"},
      {"-1.3Ki", "-1331200m"},
      {"2929.6875Ki", "3M"},
      {"2.0001Mi", "2097256857600u"},
      {"1e3", "1e3"},
      {"1000e0", "1e3"},
      {"1e-3", "1e-3"},
      {"12e6", "12e6"},
      {"1E3", "1e3"},
      {"1E", "1E"},
      {"123.456", "123456m"},
      {"+5", "5"},
      {"-5", "-5"},
      {"-100m", "-100m"},
      {"-2Gi", "-2Gi"},
      {"007", "7"},
      {".5", "500m"},
      {"5.", "5"},
      {"1n", "1n"},
      {"0.1n", "1n"},
      {"-0.1n", "-1n"},
      {"1.0000000001", "1000000001n"},
      {"1Ei", "1Ei"},
      {"8Ei", "9223372036854775807"},
      {"9e30", "9223372036854775807"},
      {"1e999999999", "9223372036854775807"},
      {"-1e999999999", "-9223372036854775807"},
      {"1e-999999999", "1e-9"},
      {"0e999999999", "0"},
      {"1e2147483647", "9223372036854775807"},
      {"1e2147483648", "none"},
      {"1e-2147483649", "none"},
      {"1e99999999999", "none"},
      {"1e-9999", "1e-9"},
      {"1e99999999999999999999", "none"},
  };
  for (const auto& [given, expected] : cases) {
    INFO(given);
    CHECK(canonical(given) == expected);
  }
}

TEST_CASE("a text that is no quantity is refused") {
  for (const char* text :
       {"",     " ",  "-",  "+",  ".",     "Ki",    "1i",  "1KI",  "1ki", "1.2.3", "1,5", "0x10",
        "1 Gi", " 1", "1 ", "1e", "1e+-3", "1e1.5", "1mm", "1Kib", "--1", "NaN",   "inf", "1e3k"}) {
    INFO(text);
    CHECK_FALSE(quantity::parse(text));
  }
}

TEST_CASE("values are whole numbers, rounded away from zero and held within 64 bits") {
  CHECK(amount("100m").value() == 1);
  CHECK(amount("-100m").value() == -1);
  CHECK(amount("1500m").value() == 2);
  CHECK(amount("2Gi").value() == 2147483648);
  CHECK(amount("1500u").milli_value() == 2);
  CHECK(amount("1.5").milli_value() == 1500);
  CHECK(amount("8Ei").value() == std::numeric_limits<std::int64_t>::max());
  CHECK(amount("8Ei").milli_value() == std::numeric_limits<std::int64_t>::max());
  CHECK(amount("-8Ei").milli_value() == std::numeric_limits<std::int64_t>::min());
  CHECK(quantity::of(3).str() == "3");
  CHECK(quantity::of(2048, quantity::notation::binary).str() == "2Ki");
  CHECK(quantity::of_milli(250).str() == "250m");
  CHECK(quantity::of(std::numeric_limits<std::int64_t>::min()).sign() == -1);
}

TEST_CASE("sums keep the notation of the first, zero takes that of the other") {
  CHECK((amount("1Gi") + amount("1Gi")).str() == "2Gi");
  CHECK((amount("1Gi") + amount("1G")).str() == "2073741824");
  CHECK((quantity() + amount("1Gi")).str() == "1Gi");
  CHECK((amount("1") - amount("250m")).str() == "750m");
  CHECK((amount("8Ei") + amount("8Ei")).value() == std::numeric_limits<std::int64_t>::max());
  CHECK((-amount("8Ei") - amount("8Ei")).sign() == -1);
}

TEST_CASE("equal amounts are equal however they are written") {
  CHECK(amount("1") == amount("1000m"));
  CHECK(amount("1Ki") == amount("1024"));
  CHECK(amount("1Ki") > amount("1k"));
  CHECK(amount("-1") < amount("1n"));
}

TEST_CASE("the form of any quantity reads back as the same amount and the same form") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::string text = random_amount(random);
    INFO(text);
    const quantity first = amount(text);
    const quantity second = amount(first.str());
    REQUIRE(second == first);
    REQUIRE(second.str() == first.str());
  }
}

TEST_CASE("sums and differences of quantities follow the rules of numbers") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    const quantity a = amount(random_amount(random));
    const quantity b = amount(random_amount(random));
    REQUIRE(a + b == b + a);
    REQUIRE((a + b) - b == a);
    REQUIRE((a < b) == ((b - a).sign() > 0));
    REQUIRE(a - a == quantity());
  }
}

TEST_CASE("a number of a million digits is a quantity like any other") {
  CHECK(canonical("1e" + std::string(1'000'000, '0') + "3") == "1e3");
  CHECK(canonical("1e" + std::string(1'000'000, '9')) == "none");
  CHECK(canonical(std::string(1'000'000, '9')) == "9223372036854775807");
  CHECK(canonical("0." + std::string(1'000'000, '0') + "1") == "1n");
  CHECK(canonical(std::string(1'000'000, '0') + "1Ki") == "1Ki");
}

}  // namespace troupe::api
