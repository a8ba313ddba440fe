// Documents that cost far more than their size. Each must be handled in bounded time and memory.
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "api/codec/codec.hpp"
#include "api/schema/core_v1.pb.h"
#include "api/scheme.hpp"
#include "support/cpu_time.hpp"
#include "support/figures.hpp"

namespace troupe::api {
namespace {

constexpr std::size_t size_bytes = 3u << 20;

std::string repeated(std::string_view part, std::size_t total_bytes) {
  std::string out;
  out.reserve(total_bytes + part.size());
  while (out.size() + part.size() <= total_bytes)
    out += part;
  return out;
}

std::size_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

// Decodes within a second and with at most 200 MB more memory than the process had used
// before.
expected<decoded> decode_within_bounds(const std::string& text, media form = media::json,
                                       field_validation fields = field_validation::strict) {
  decode_options options;
  options.fields = fields;
  const std::size_t before = peak_bytes();
  const double start = test::cpu_seconds();
  auto out = decode(text, form, &kind_of<core::v1::Pod>(), options);
  test::check_below(test::cpu_seconds() - start, 1.0);
  CHECK(peak_bytes() - before < 200'000'000);
  return out;
}

void refuse(const std::string& text, std::string_view reason, media form = media::json) {
  INFO(text.substr(0, 60));
  const auto read = decode_within_bounds(text, form);
  REQUIRE_FALSE(read);
  CHECK(read.error().code == 400);
  INFO(read.error().message.substr(0, 200));
  CHECK(read.error().message.find(reason) != std::string::npos);
}

// A pod with `value` where any value is allowed, and where the field is unknown.
const std::vector<std::pair<std::string, std::string>> places = {
    {R"({"metadata":{"managedFields":[{"fieldsV1":)", "}]}}"},
    {R"({"unknown":)", "}"},
    {R"({"kind":)", "}"},
    {"", ""},
};

}  // namespace

TEST_CASE("three megabytes of nested arrays are refused for their depth") {
  const std::string open(size_bytes - 100, '[');
  const std::string half = std::string(size_bytes / 2 - 100, '[');
  const std::string balanced = half + std::string(half.size(), ']');
  for (const auto& [before, after] : places) {
    const bool somewhere =
        before.find("nown") != std::string::npos || before.find("fieldsV1") != std::string::npos;
    refuse(before + open, somewhere ? "exceeded max depth" : "json: ");
    refuse(before + balanced + after, somewhere ? "exceeded max depth" : "json: ");
  }
}

TEST_CASE("three megabytes of nested objects are refused for their depth") {
  const std::string open = repeated(R"({"a":)", size_bytes - 100);
  std::string balanced = repeated(R"({"a":)", size_bytes / 6 * 5 - 100);
  const std::size_t depth = balanced.size() / 5;
  balanced += "1" + std::string(depth, '}');
  for (const auto& [before, after] : places) {
    if (before == R"({"kind":)") continue;
    refuse(before + open, "exceeded max depth");
    refuse(before + balanced + after, "exceeded max depth");
  }
}

TEST_CASE("nesting up to the limit is read, one more is not") {
  const auto nested = [](std::size_t depth) {
    return R"({"metadata":{"managedFields":[{"fieldsV1":)" + std::string(depth, '[') +
           std::string(depth, ']') + "}]}}";
  };
  const std::size_t limit = decode_options{}.depth_limit - 4;
  auto read = decode_within_bounds(nested(limit));
  REQUIRE(read);
  // Writing and destroying it must not overflow the stack either.
  CHECK(encode_json(*read->content, {}, {}).size() > 2 * limit);
  CHECK(encode_yaml(*read->content, {}, {}).size() > 2 * limit);
  refuse(nested(limit + 1), "exceeded max depth");
}

TEST_CASE("three megabytes of empty maps, lists and numbers cost a bounded amount") {
  const auto in_list = [](std::string_view before, std::string_view part, std::string_view after) {
    std::string text(before);
    text += '[' + repeated(std::string(part) + ',', size_bytes - 200) + std::string(part) + ']';
    return text + std::string(after);
  };
  for (const char* part : {"{}", "[]", "1", "\"\"", "null"}) {
    INFO(part);
    CHECK(decode_within_bounds(
        in_list(R"({"metadata":{"managedFields":[{"fieldsV1":)", part, "}]}}")));
    CHECK(decode_within_bounds(in_list(R"({"unknown":)", part, "}"), media::json,
                               field_validation::ignore));
  }
  CHECK(decode_within_bounds(
      in_list(R"({"spec":{"securityContext":{"supplementalGroups":)", "1", "}}}")));
  CHECK(decode_within_bounds(in_list(R"({"metadata":{"finalizers":)", "\"\"", "}}")));
  refuse(in_list(R"({"spec":{"containers":)", "{}", "}}"), "describes too much");
  refuse(in_list(R"({"spec":{"containers":)", "null", "}}"), "describes too much");
  refuse(in_list(R"({"spec":{"volumes":)", "{}", "}}"), "describes too much");
}

TEST_CASE("three megabytes of map entries cost a bounded amount") {
  std::string text = R"({"metadata":{"annotations":{"a":"")";
  for (int i = 0; text.size() < size_bytes - 40; ++i)
    text += ",\"" + std::to_string(i) + "\":\"\"";
  decode_within_bounds(text + "}}}");
  const std::string same =
      R"({"metadata":{"annotations":{"a":"")" + repeated(R"(,"a":"")", size_bytes - 100) + "}}}";
  refuse(same, "duplicate field \"metadata.annotations.a\"");
}

TEST_CASE("three megabytes of duplicate and unknown fields cost a bounded amount") {
  const std::string lists =
      R"({"spec":{"containers":[{}])" + repeated(R"(,"containers":[{}])", size_bytes - 100) + "}}";
  CHECK_FALSE(decode_within_bounds(lists, media::json, field_validation::ignore));
  std::string unknown = R"({"spec":{"x":1)";
  for (int i = 0; unknown.size() < size_bytes - 40; ++i)
    unknown += ",\"x" + std::to_string(i) + "\":1";
  const auto warned = decode_within_bounds(unknown + "}}", media::json, field_validation::warn);
  REQUIRE(warned);
  CHECK(warned->warnings.size() == 100);
}

TEST_CASE("a document of the limit is read, one byte more is 413") {
  std::string text = R"({"metadata":{"annotations":{"a":")";
  text += std::string(size_bytes - text.size() - 4, 'x') + R"("}}})";
  REQUIRE(text.size() == size_bytes);
  CHECK(decode_within_bounds(text));
  text += ' ';
  for (const media form : {media::json, media::yaml, media::protobuf}) {
    const auto read = decode(text, form, nullptr);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == 413);
    CHECK(read.error().reason == "RequestEntityTooLarge");
  }
}

TEST_CASE("long numbers and long names cost a bounded amount") {
  const std::string digits(size_bytes - 100, '9');
  refuse(R"({"spec":{"activeDeadlineSeconds":)" + digits + "}}", "Number too big");
  CHECK(decode_within_bounds(R"({"spec":{"overhead":{"cpu":")" + digits + "\"}}}"));
  refuse("{\"" + std::string(size_bytes - 100, 'k') + "\":1}", "unknown field");
}

}  // namespace troupe::api
