// Small parts of the codecs: UTF-8, base64, times, JSON strings, the wire format.
#include <catch2/catch.hpp>
#include <random>

#include "api/codec/json_text.hpp"
#include "api/codec/wire.hpp"
#include "api/codec/wire_writer.hpp"
#include "api/values/base64.hpp"
#include "api/values/duration.hpp"
#include "api/values/text_parts.hpp"
#include "api/values/timestamp.hpp"
#include "api/values/utf8.hpp"

namespace troupe::api {
namespace {

std::string mended(std::string_view text) {
  std::string out;
  append_utf8(out, text);
  return out;
}

std::string to_base64(std::string_view bytes) {
  std::string out;
  append_base64(out, bytes);
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string out;
  if (append_from_base64(out, text)) return std::nullopt;
  return out;
}

std::string reformatted(std::string_view text) {
  const auto at = parse_time(text);
  return at ? format_time(at->seconds) : "none";
}

}  // namespace

TEST_CASE("invalid UTF-8 becomes replacement characters, byte by byte") {
  CHECK(mended("plain and \xC3\xA9 and \xF0\x9F\x98\x80") ==
        "plain and \xC3\xA9 and \xF0\x9F\x98\x80");
  const std::string r(replacement_character);
  CHECK(mended("a\x80z") == "a" + r + "z");
  CHECK(mended("\xC0\x80") == r + r);                  // overlong
  CHECK(mended("\xE0\x80\x80") == r + r + r);          // overlong
  CHECK(mended("\xED\xA0\x80") == r + r + r);          // surrogate
  CHECK(mended("\xF4\x90\x80\x80") == r + r + r + r);  // above U+10FFFF
  CHECK(mended("\xE2\x82") == r + r);                  // cut off
  CHECK(is_utf8("\xE2\x82\xAC"));
  CHECK_FALSE(is_utf8("12345678\xFF"));
}

TEST_CASE("a text is cut before the character that does not fit") {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC";  // a, é, €: 1, 2 and 3 bytes
  const std::size_t kept[] = {0, 1, 1, 3, 3, 3, 6, 6};
  for (std::size_t limit = 0; limit < std::size(kept); ++limit)
    CHECK(utf8_prefix(text, limit) == kept[limit]);
}

TEST_CASE("a text is taken apart at its separators") {
  std::string_view text = "a,,b c,";
  CHECK(take_part(text, ',') == "a");
  CHECK(take_part(text, ',').empty());
  CHECK(text == "b c,");
  CHECK(take_part(text, ',') == "b c");
  CHECK(text.empty());
  CHECK(take_part(text, ',').empty());
  std::string_view whole = "whole";
  CHECK(take_part(whole, ',') == "whole");
  CHECK(whole.empty());
  CHECK(parts_between(",a,,b c,", ',') == std::vector<std::string_view>{"a", "b c"});
  CHECK(parts_between("", ',').empty());
  CHECK(trimmed("\t a b ", " \t") == "a b");
  CHECK(trimmed("  ", " ").empty());
  CHECK(trimmed("", " ").empty());
}

TEST_CASE("any bytes survive base64") {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (auto left = random() % 50; left > 0; --left)
      bytes += static_cast<char>(random());
    REQUIRE(from_base64(to_base64(bytes)) == bytes);
  }
  CHECK(to_base64("any carnal pleas") == "YW55IGNhcm5hbCBwbGVhcw==");
}

TEST_CASE("base64 has its padding, its alphabet and may have line breaks") {
  CHECK(from_base64("YW55\r\nIGNh\n") == "any ca");
  for (const char* text : {"Y", "YW", "YW5", "YW5=Y", "YW55=", "YW===", "=", "====", "Y=Q=", "YW 5",
                           "YW-_", "YQ==YQ=="}) {
    INFO(text);
    CHECK_FALSE(from_base64(text));
  }
}

TEST_CASE("times are read with fraction and offset and written in UTC") {
  CHECK(reformatted("2006-01-02T15:04:05Z") == "2006-01-02T15:04:05Z");
  CHECK(reformatted("2006-01-02T15:04:05.999999999Z") == "2006-01-02T15:04:05Z");
  CHECK(reformatted("2006-01-02T15:04:05+07:00") == "2006-01-02T08:04:05Z");
  CHECK(reformatted("2006-01-02T15:04:05-23:59") == "2006-01-03T15:03:05Z");
  CHECK(reformatted("2006-01-02t15:04:05z") == "2006-01-02T15:04:05Z");
  CHECK(reformatted("2000-02-29T00:00:00Z") == "2000-02-29T00:00:00Z");
  CHECK(reformatted("0001-01-01T00:00:00Z") == "0001-01-01T00:00:00Z");
  CHECK(reformatted("9999-12-31T23:59:59Z") == "9999-12-31T23:59:59Z");
  CHECK(parse_time("1970-01-01T00:00:01.5Z")->nanos == 500'000'000);
  CHECK(parse_time("1969-12-31T23:59:59Z")->seconds == -1);
  std::string micro;
  append_micro_time(micro, {0, 1'234'567});
  CHECK(micro == "1970-01-01T00:00:00.001234Z");
}

TEST_CASE("invalid times are refused") {
  for (const char* text :
       {"", "2006-01-02", "2006-01-02T15:04Z", "2006-01-02T15:04:05", "2006-1-2T15:04:05Z",
        "2006-02-30T15:04:05Z", "2001-02-29T00:00:00Z", "2006-13-02T15:04:05Z",
        "2006-01-02T24:04:05Z", "2006-01-02T15:60:05Z", "2006-01-02T15:04:60Z",
        "2006-01-02 15:04:05Z", "2006-01-02T15:04:05.Z", "2006-01-02T15:04:05+7:00",
        "2006-01-02T15:04:05+24:00", "2006-01-02T15:04:05Zx", "0000-12-31T00:00:00Z",
        "10000-01-01T00:00:00Z", "-001-01-01T00:00:00Z"}) {
    INFO(text);
    CHECK(reformatted(text) == "none");
  }
}

TEST_CASE("seconds beyond the calendar are written as its ends") {
  CHECK(format_time(std::numeric_limits<std::int64_t>::max()) == "9999-12-31T23:59:59Z");
  CHECK(format_time(std::numeric_limits<std::int64_t>::min()) == "0001-01-01T00:00:00Z");
}

TEST_CASE("lengths of time are written as Go writes them, and read again") {
  const std::pair<std::int64_t, const char*> written[] = {
      {0, "0s"},
      {1, "1ns"},
      {1'100, "1.1µs"},
      {2'200'000, "2.2ms"},
      {250'000'000, "250ms"},
      {3'300'000'000, "3.3s"},
      {245'000'000'000, "4m5s"},
      {245'001'000'000, "4m5.001s"},
      {3'600'000'000'000, "1h0m0s"},
      {18'367'001'000'000, "5h6m7.001s"},
      {-1'500'000'000, "-1.5s"},
      {std::numeric_limits<std::int64_t>::max(), "2562047h47m16.854775807s"},
      {std::numeric_limits<std::int64_t>::min(), "-2562047h47m16.854775808s"}};
  for (const auto& [nanoseconds, text] : written) {
    CHECK(format_duration(nanoseconds) == text);
    CHECK(parse_duration(text) == nanoseconds);
  }
  CHECK(parse_duration("0") == 0);
  CHECK(parse_duration("+1.5h") == 5'400'000'000'000);
  CHECK(parse_duration("2us") == 2'000);
  CHECK(parse_duration(".5s") == 500'000'000);
  CHECK(parse_duration("1s1s") == 2'000'000'000);
  CHECK(parse_duration("0.9ns") == 0);
  CHECK(parse_duration("0." + std::string(1'000, '3') + "s") == 333'333'333);
}

TEST_CASE("invalid lengths of time are refused") {
  const std::string too_many(400, '9');
  for (const std::string text :
       {"", "s", "1", "1.5", "-", "+", ".s", "1x", "1 s", "1s ", "--1s", "1.5.5s", "1e3s",
        "2562047h47m16.854775808s", "-2562047h47m16.854775809s", "\xC2\xB5s"}) {
    INFO(text);
    CHECK_FALSE(parse_duration(text));
  }
  CHECK_FALSE(parse_duration(too_many + "ns"));
  CHECK_FALSE(parse_duration(too_many + "." + too_many + "h"));
}

TEST_CASE("JSON strings escape only the required characters") {
  CHECK(quoted("a\"b\\c\n\t\r\b\f\x01\x1f</>&'") == R"("a\"b\\c\n\t\r\b\f\u0001\u001f</>&'")");
  CHECK(quoted("\xE2\x82\xAC\xFF") == "\"\xE2\x82\xAC\xEF\xBF\xBD\"");
}

TEST_CASE("numbers are written with as many digits as they need") {
  std::string out;
  append_number(out, 0.1);
  out += ' ';
  append_number(out, 1e21);
  out += ' ';
  append_number(out, std::numeric_limits<double>::infinity());
  out += ' ';
  append_number(out, std::numeric_limits<std::int64_t>::min());
  CHECK(out == "0.1 1e+21 null -9223372036854775808");
}

TEST_CASE("the wire reader stops at malformed fields and never leaves the bytes") {
  const auto reads = [](std::string bytes) {
    wire::reader fields(bytes);
    for (wire::field f; fields.next(f);) {
    }
    return fields.ok();
  };
  CHECK(reads(""));
  CHECK(
      reads(std::string("\x0A\x03"
                        "abc",
                        5)));
  CHECK_FALSE(
      reads(std::string("\x0A\x04"
                        "abc",
                        5)));                      // longer than the bytes
  CHECK_FALSE(reads("\x0A"));                      // no length
  CHECK_FALSE(reads("\x0B"));                      // a group
  CHECK_FALSE(reads(std::string("\x02\x00", 2)));  // field 0
  CHECK_FALSE(reads("\x08"));                      // no value
  CHECK_FALSE(
      reads("\x09"
            "1234567"));                                                   // fixed64 of 7 bytes
  CHECK_FALSE(reads("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"));  // varint of 11 bytes
  CHECK_FALSE(reads("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"));      // length of 2^64 - 1
}

TEST_CASE("nested messages get their lengths whatever their size") {
  for (const std::size_t size : {0u, 1u, 127u, 128u, 16383u, 16384u, 100000u}) {
    wire::writer out;
    out.begin(1);
    out.begin(2);
    out.bytes(3, std::string(size, 'x'));
    out.end();
    out.end();
    wire::field outer, inner, text;
    REQUIRE(wire::reader(out.str()).next(outer));
    REQUIRE(outer.bytes_with_tag.size() == out.str().size());
    REQUIRE(wire::reader(outer.bytes).next(inner));
    REQUIRE(wire::reader(inner.bytes).next(text));
    REQUIRE(text.bytes.size() == size);
  }
  wire::writer out;
  out.begin(1);
  out.begin(2);
  out.end_unless_empty();
  out.end_unless_empty();
  CHECK(out.str().empty());
}

}  // namespace troupe::api
