// Server-side apply as an algorithm: sets of fields, merging, and invariants for random objects.
#include <catch2/catch.hpp>
#include <random>

#include "api/apply/field_managers.hpp"
#include "api/apply/merging.hpp"
#include "api/codec/codec.hpp"
#include "api/codec/json_dom.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "support/cpu_time.hpp"
#include "support/figures.hpp"

using namespace troupe::api;

namespace {

json_document tree(const std::string& json) {
  json_document read;
  REQUIRE(parse_json(read, json, "a test"));
  return read;
}

std::string canonical(const json_value& value) {
  std::string out;
  append_canonical_json(out, value);
  return out;
}

const kind_info& pods() {
  return kind_of<core::v1::Pod>();
}

std::string fields(const std::string& json, const kind_info& kind = pods()) {
  const auto found = fields_of(tree(json), merge_type::of(kind));
  return found ? write_fields(*found) : found.error();
}

std::string merged(const std::string& live, const std::string& config) {
  json_document out;
  const auto result = merge(tree(live), tree(config), merge_type::of(pods()), out.GetAllocator());
  return canonical(result);
}

std::string pod(const std::string& containers) {
  return R"({"spec":{"containers":[)" + containers + "]}}";
}

struct applier {
  std::string live;

  tl::expected<void, std::string> apply(const std::string& manager, const std::string& config,
                                        bool force = false) {
    auto done = apply_fields(kind_of<core::v1::ConfigMap>(), live, config,
                             {.name = manager, .force = force, .now_seconds = 1'700'000'000});
    if (!done) return tl::make_unexpected(done.error().message);
    if (done->unchanged) return {};
    core::v1::ConfigMap map;
    REQUIRE(decode_into(done->json, media::json, map));
    *map.mutable_metadata()->mutable_managed_fields() = done->managed;
    live = encode_json(map, "v1", "ConfigMap");
    return {};
  }
  std::map<std::string, std::string> data() const {
    core::v1::ConfigMap map;
    REQUIRE(decode_into(live, media::json, map));
    return {map.data().begin(), map.data().end()};
  }
  // By manager.
  std::map<std::string, field_set> owned() const {
    core::v1::ConfigMap map;
    REQUIRE(decode_into(live, media::json, map));
    std::map<std::string, field_set> all;
    for (const auto& each : map.metadata().managed_fields())
      all[each.manager()] = read_fields(each.fields_v1().raw()).value();
    return all;
  }
};

std::string map_json(const std::map<std::string, std::string>& data) {
  std::string all;
  for (const auto& [key, value] : data)
    all += (all.empty() ? "\"" : ",\"") + key + "\":\"" + value + "\"";
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{)" + all + "}}";
}

}  // namespace

TEST_CASE("fields are leaves, and the elements of lists with keys") {
  CHECK(
      fields(
          R"({"metadata":{"labels":{"a":"b"}},"spec":{"nodeName":"n","nodeSelector":{"x":"y"}}})") ==
      R"({"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:nodeName":{},"f:nodeSelector":{}}})");
  CHECK(
      fields(pod(R"({"name":"c","args":["x"],"ports":[{"containerPort":80}]})")) ==
      R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:args":{},"f:name":{},)"
      R"("f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}})");
  CHECK(fields(R"({"metadata":{"finalizers":["b","a"]}})") ==
        R"({"f:metadata":{"f:finalizers":{"v:\"a\"":{},"v:\"b\"":{}}}})");
  CHECK(fields(R"({"metadata":{"labels":{}}})") == R"({"f:metadata":{"f:labels":{}}})");
  CHECK(fields(R"({"spec":{"none":1}})") == ".spec.none: field not declared in schema");
  CHECK_THAT(fields(pod(R"({"name":"c"},{"name":"c"})")),
             Catch::Contains("duplicate entries for key [name=\"c\"]"));
}

TEST_CASE("a set contains the fields of its text") {
  for (const std::string text : {R"({})", R"({"f:a":{}})", R"({"f:a":{".":{},"f:b":{}}})",
                                 R"({"f:l":{"k:{\"a\":1,\"b\":\"c\"}":{".":{},"f:x":{}}}})",
                                 R"({"f:s":{"i:3":{},"v:\"q\"":{}}})"}) {
    INFO(text);
    const auto read = read_fields(text);
    REQUIRE(read);
    CHECK(read_fields(write_fields(*read)) == *read);
  }
  CHECK(write_fields(*read_fields(R"({"f:s":{"v:\"q\"":{},"f:a":{}}})")) ==
        R"({"f:s":{"f:a":{},"v:\"q\"":{}}})");
  for (const std::string bad : {"[]", R"({"x":{}})", R"({"f:a":1})", R"({"k:{":{}})", "{"})
    CHECK_FALSE(read_fields(bad));
  CHECK(shown({{field_step::type::field, "spec"},
               {field_step::type::key, R"({"name":"c","port":80})"},
               {field_step::type::value, "\"x\""},
               {field_step::type::index, "3"}}) == ".spec[name=\"c\",port=80][=\"x\"][3]");
}

TEST_CASE("lists with keys are merged in the order of the applied configuration") {
  const auto names = [](const std::string& live, const std::string& config) {
    const auto list = [](const std::string& all) {
      std::string out;
      for (const char name : all)
        out += std::string{out.empty() ? "" : ","} + R"({"name":")" + name + "\"}";
      return pod(out);
    };
    auto result = tree(merged(list(live), list(config)));
    std::string out;
    for (const auto& each : result["spec"]["containers"].GetArray())
      out += each["name"].GetString();
    return out;
  };
  CHECK(names("abc", "b") == "abc");
  CHECK(names("abc", "ca") == "bca");
  CHECK(names("ab", "xby") == "axby");
  CHECK(names("", "ab") == "ab");
  CHECK(names("ab", "") == "ab");
  CHECK(
      merged(pod(R"({"name":"c","image":"x","env":[{"name":"A","value":"1"}]})"),
             pod(R"({"name":"c","env":[{"name":"B","value":"2"}]})")) ==
      pod(R"({"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"x","name":"c"})"));
}

// Managers apply random maps, with and without force. Invariants: applying the same again changes
// nothing, each field has an owner, and no manager owns a missing field.
TEST_CASE("ownership holds over random applies") {
  std::mt19937 random{20261124};
  const auto below = [&](int n) { return std::uniform_int_distribution<int>{0, n - 1}(random); };
  for (int round = 0; round < 60; ++round) {
    applier object;
    std::map<std::string, std::map<std::string, std::string>> wanted;
    for (int step = 0; step < 12; ++step) {
      const auto manager = std::string{"m"} + std::to_string(below(3));
      std::map<std::string, std::string> config;
      for (const char key : {'a', 'b', 'c', 'd'})
        if (below(2) == 0) config[std::string{key}] = std::to_string(below(2));
      const bool force = below(2) == 0;
      const auto before = object.live;
      const auto done = object.apply(manager, map_json(config), force);
      if (!done) {
        CHECK_FALSE(force);
        CHECK_THAT(done.error(), Catch::StartsWith("Apply failed with"));
        CHECK(object.live == before);
        continue;
      }
      wanted[manager] = config;
      const auto data = object.data();
      for (const auto& [key, value] : config)
        CHECK(data.at(key) == value);
      const auto once = object.live;
      REQUIRE(object.apply(manager, map_json(config), false));
      CHECK(object.live == once);
      field_set all;
      for (const auto& [name, set] : object.owned())
        all = unite(std::move(all), set);
      std::set<std::string> owned;
      for_each(all, [&](const field_steps& path) {
        if (path.size() == 2) owned.insert(path.back().text);
      });
      std::set<std::string> there;
      for (const auto& [key, value] : data)
        there.insert(key);
      CHECK(owned == there);
    }
  }
}

TEST_CASE("an apply of very many fields ends soon, and names some of very many conflicts") {
  std::map<std::string, std::string> data;
  for (int i = 0; i < 50'000; ++i)
    data["key-" + std::to_string(i)] = "1";
  const auto one = map_json(data);
  for (auto& [key, value] : data)
    value = "2";
  const auto two = map_json(data);
  applier object;
  const auto start = troupe::test::cpu_seconds();
  REQUIRE(object.apply("x", one));
  REQUIRE(object.apply("x", one));
  const auto refused = object.apply("y", two);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error(), Catch::StartsWith("Apply failed with 50000 conflicts"));
  CHECK(refused.error().size() < 10'000);
  REQUIRE(object.apply("y", two, true));
  troupe::test::check_below(troupe::test::cpu_seconds() - start, 10.0);
}

TEST_CASE("appliers of different fields do not conflict") {
  for (const bool first : {true, false}) {
    applier object;
    const auto a = map_json({{"a", "1"}}), b = map_json({{"b", "2"}});
    REQUIRE(object.apply(first ? "x" : "y", first ? a : b));
    REQUIRE(object.apply(first ? "y" : "x", first ? b : a));
    CHECK(object.data() == std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}});
    REQUIRE(object.apply("x", map_json({})));
    CHECK(object.data() == std::map<std::string, std::string>{{"b", "2"}});
  }
}
