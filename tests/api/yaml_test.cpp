#include <catch2/catch.hpp>

#include "api/codec/codec.hpp"
#include "api/codec/yaml_scalar.hpp"
#include "api/schema/core_v1.pb.h"
#include "api/scheme.hpp"
#include "support/cpu_time.hpp"

namespace troupe::api {
namespace {

std::string json_of(std::string_view yaml) {
  const auto json = yaml_to_json(yaml);
  INFO((json ? std::string() : json.error().message));
  REQUIRE(json);
  return *json;
}

std::string refusal(std::string_view yaml) {
  const auto json = yaml_to_json(yaml);
  REQUIRE_FALSE(json);
  CHECK(json.error().code == 400);
  return json.error().message;
}

void refuse_quickly(const std::string& yaml, std::string_view reason) {
  INFO(yaml.substr(0, 60));
  const double start = test::cpu_seconds();
  const auto json = yaml_to_json(yaml);
  CHECK(test::cpu_seconds() - start < 1.0);
  REQUIRE_FALSE(json);
  INFO(json.error().message.substr(0, 200));
  CHECK(json.error().message.find(reason) != std::string::npos);
}

std::string repeated(std::string_view part, std::size_t count) {
  std::string out;
  for (; count > 0; --count)
    out += part;
  return out;
}

}  // namespace

TEST_CASE("YAML becomes JSON with the same structure") {
  CHECK(json_of("a: 1\nb:\n- x\n- y: z\n  w: {}\nc: [1, [2], {d: e}]\n") ==
        R"({"a":1,"b":["x",{"y":"z","w":{}}],"c":[1,[2],{"d":"e"}]})");
  CHECK(json_of("---\n# comment\na: |\n  two\n  lines\nb: >-\n  folded\n  text\n") ==
        R"({"a":"two\nlines\n","b":"folded text"})");
  CHECK(json_of("") == "null");
  CHECK(json_of("a: 1\n---\n") == R"({"a":1})");
  CHECK(json_of("---\n---\na: 1\n") == R"({"a":1})");
}

TEST_CASE("JSON is YAML and is taken as it is") {
  CHECK(json_of(R"( {"a": 1.50, "b": [null]})") == R"( {"a": 1.50, "b": [null]})");
  CHECK(json_of("{a: b}") == R"({"a":"b"})");
}

TEST_CASE("plain scalars follow YAML 1.1, except that yes and on are strings") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1", "1"},
      {"-1", "-1"},
      {"+1", "1"},
      {"0", "0"},
      {"-0", "0"},
      {"0644", "420"},
      {"0o644", "420"},
      {"0x1F", "31"},
      {"0b101", "5"},
      {"1_000", "1000"},
      {"1.5", "1.5"},
      {"1.50", "1.5"},
      {"1e3", "1000"},
      {".5", "0.5"},
      {"-.5", "-0.5"},
      {"5.", "5"},
      {"08", "8"},
      {"1.2.3", "\"1.2.3\""},
      {"1e", "\"1e\""},
      {".", "\".\""},
      {"-", "\"-\""},
      {"1Gi", "\"1Gi\""},
      {"100m", "\"100m\""},
      {".inf", "\".inf\""},
      {".nan", "\".nan\""},
      {"0x", "\"0x\""},
      {"true", "true"},
      {"True", "true"},
      {"FALSE", "false"},
      {"null", "null"},
      {"~", "null"},
      {"Null", "null"},
      {"yes", "\"yes\""},
      {"no", "\"no\""},
      {"on", "\"on\""},
      {"y", "\"y\""},
      {"tRUE", "\"tRUE\""},
      {"2001-01-01", "\"2001-01-01\""},
      {"12:30", "\"12:30\""},
      {"18446744073709551615", "18446744073709551615"},
      {"18446744073709551616", "18446744073709551616"},
  };
  for (const auto& [yaml, json] : cases) {
    INFO(yaml);
    CHECK(plain_scalar_to_json(yaml) == json);
  }
}

TEST_CASE("quoted scalars and those tagged as strings are strings") {
  CHECK(json_of("[\"1\", 'true', !!str 5, \"\\n\", !!int 7]") == R"(["1","true","5","\n",7])");
}

TEST_CASE("keys are always strings") {
  CHECK(json_of("1: a\ntrue: b\nnull: c\n~: d\n0x10: e\n\"q\": f\n") ==
        R"({"1":"a","true":"b","null":"c","null":"d","16":"e","q":"f"})");
  CHECK(refusal("{[a]: b}").find("a key must be a string") != std::string::npos);
  CHECK(refusal("? {a: b}\n: c\n").find("a key must be a string") != std::string::npos);
}

TEST_CASE("an alias stands for its anchor") {
  CHECK(json_of("a: &x {b: [1]}\nc: *x\nd: &y text\ne: *y\n*y : f\n") ==
        R"({"a":{"b":[1]},"c":{"b":[1]},"d":"text","e":"text","text":"f"})");
  CHECK(refusal("a: &x [*x]").find("an alias stands within what it is an alias of") !=
        std::string::npos);
  CHECK(refusal("a: *nothing").find("yaml: line 1") != std::string::npos);
  CHECK(refusal("a: &x {b: c}\nd:\n  <<: *x\n").find("merge keys") != std::string::npos);
}

TEST_CASE("an object in invalid YAML is refused in the words of upstream's handlers") {
  const auto read = decode("a: [1", media::yaml, &kind_of<core::v1::ConfigMap>());
  REQUIRE_FALSE(read);
  CHECK(read.error().message.starts_with(
      "the object provided is unrecognized (must be of type ConfigMap): yaml: line 1: "));
  CHECK(read.error().message.ends_with(" (613a205b31)"));
}

TEST_CASE("invalid YAML is refused with its line") {
  CHECK(refusal("a: b\n c: d\n e").find("yaml: line ") != std::string::npos);
  CHECK(refusal("a: [1, 2").find("yaml: line ") != std::string::npos);
  CHECK(refusal("a: \"open").find("yaml: line ") != std::string::npos);
  CHECK(refusal("a: 1\n---\nb: 2\n").find("more than one document") != std::string::npos);
  CHECK(refusal("a: !custom 5").find("the tag \"!custom\" is not supported") != std::string::npos);
  CHECK(refusal(std::string("a: b\x04", 5)).find("control characters") != std::string::npos);
}

TEST_CASE("duplicate keys of YAML are found by strict validation") {
  decode_options options;
  options.fields = field_validation::strict;
  const auto read = decode("kind: Pod\napiVersion: v1\nmetadata:\n  name: a\n  name: b\n",
                           media::yaml, nullptr, options);
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("duplicate field \"metadata.name\"") != std::string::npos);
}

TEST_CASE("a text with exponentially many aliases is refused at once") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 0; k < 9; ++k)
      bomb += ", " + before;
    bomb += "]\n";
  }
  refuse_quickly(bomb, "excessive aliasing");
  const std::string large =
      "a: &a \"" + std::string(1 << 20, 'x') + "\"\nb: [" + repeated("*a, ", 100'000) + "]\n";
  refuse_quickly(large, "excessive aliasing");
}

TEST_CASE("deeply nested and malformed YAML is refused at once") {
  const std::size_t size = 3'000'000;
  refuse_quickly(std::string(size, '['), "a flow collection is too large");
  refuse_quickly(std::string(size, '{'), "a flow collection is too large");
  refuse_quickly(repeated("[a,", size / 3), "a flow collection is too large");
  refuse_quickly(std::string(1000, '['), "a key must be a string");
  refuse_quickly(repeated("- ", 1000), "exceeded max depth");
  refuse_quickly(repeated("- ", size / 2), "yaml: line 1: exceeded max depth");
  refuse_quickly(repeated("? ", size / 2), "yaml: line 1");
  refuse_quickly(repeated("a: ", size / 3), "yaml: line 1");
  refuse_quickly(repeated("&a ", size / 3), "yaml: line 1");
  refuse_quickly("a: !" + std::string(size, '<'), "yaml: line 1");
}

TEST_CASE("a large text may contain flow collections") {
  const std::string text = repeated("  {\"key\": [1, 2]},\n", 50'000);
  CHECK(json_of("data: |\n" + text).size() > text.size() / 2);
}

TEST_CASE("YAML is written in block style and reads back") {
  core::v1::ConfigMap map;
  map.mutable_metadata()->set_name("m");
  auto& data = *map.mutable_data();
  data["text"] = "two\nlines\n";
  data["word"] = "plain";
  data["number"] = "0644";
  data["yes"] = "yes";
  data["empty"] = "";
  data["colon"] = "a: b";
  data["dash"] = "- x";
  const std::string yaml = encode_yaml(map, "v1", "ConfigMap");
  CHECK(yaml ==
        "kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: m\ndata:\n  colon: \"a: b\"\n  dash: "
        "\"- x\"\n  empty: \"\"\n  number: \"0644\"\n  text: \"two\\nlines\\n\"\n  word: plain\n  "
        "\"yes\": \"yes\"\n");
  core::v1::Pod pod;
  pod.mutable_spec()->add_containers()->add_args("x");
  pod.mutable_spec()->mutable_containers(0)->mutable_security_context();
  pod.mutable_spec()->add_volumes()->mutable_volume_source()->mutable_empty_dir();
  const auto again = decode(encode_yaml(pod, "v1", "Pod"), media::yaml, nullptr);
  REQUIRE(again);
  CHECK(encode_json(*again->content, {}, {}) == encode_json(pod, {}, {}));
}

TEST_CASE("a document of very many levels does not become far longer as YAML") {
  const auto deep = repeated("[", 500) + "1" + repeated(",1", 50'000) + repeated("]", 500);
  const auto read = decode(R"({"apiVersion":"apps/v1","kind":"ControllerRevision",)"
                           R"("metadata":{"name":"a"},"revision":1,"data":{"x":)" +
                               deep + "}}",
                           media::json, nullptr);
  REQUIRE(read);
  const auto yaml = encode_yaml(*read->content, "apps/v1", "ControllerRevision");
  CHECK(yaml.starts_with("{"));
  CHECK(yaml.find(deep) != std::string::npos);
}

}  // namespace troupe::api
