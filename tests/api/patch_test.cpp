#include "api/patch/patch.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "api/codec/codec.hpp"
#include "api/codec/json_dom.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "support/cpu_time.hpp"
#include "support/figures.hpp"
#include "support/random_message.hpp"

using namespace troupe::api;

namespace {

const auto& pod = *core::v1::Pod::descriptor();

json_document parsed(std::string_view text) {
  json_document document;
  INFO(text);
  REQUIRE(parse_json(document, text, "test"));
  return document;
}

bool same(std::string_view a, std::string_view b) {
  return same_json(parsed(a), parsed(b));
}

// The result as JSON, or "code: message".
std::string patched(patch_form form, std::string_view document, std::string_view patch) {
  const auto made = apply_patch(form, pod, document, patch);
  return made ? *made : std::to_string(made.error().code) + ": " + made.error().message;
}

void check(patch_form form, std::string_view document, std::string_view patch,
           std::string_view wanted) {
  const auto made = patched(form, document, patch);
  INFO(document << "\n" << patch << "\n" << made);
  CHECK(same(made, wanted));
}

int refusal(patch_form form, std::string_view document, std::string_view patch) {
  const auto made = apply_patch(form, pod, document, patch);
  return made ? 0 : made.error().code;
}

}  // namespace

TEST_CASE("a merge patch follows the examples of RFC 7386") {
  const auto merge = [](const char* from, const char* patch, const char* wanted) {
    check(patch_form::merge, from, patch, wanted);
  };
  merge(R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})");
  merge(R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})");
  merge(R"({"a":"b"})", R"({"a":null})", R"({})");
  merge(R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})");
  merge(R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})");
  merge(R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})");
  merge(R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})");
  merge(R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})");
  merge(R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})");
  merge(R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})");
  merge(R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})");
  CHECK(refusal(patch_form::merge, "{}", "[1]") == 400);
  CHECK(refusal(patch_form::merge, "{}", "{") == 400);
}

TEST_CASE("the numbers of a patch arrive as they were sent") {
  const auto arrives = [](const std::string& number) {
    const auto made = patched(patch_form::merge, "{}", "{\"a\":" + number + "}");
    return made.substr(5, made.size() - 6);
  };
  for (const char* zero : {"0e111", "0E300", "0.0e50", "0e-111", "0.000e-400", "1e-400"})
    CHECK(arrives(zero) == "0.0");
  CHECK(arrives("-0e111") == "-0.0");
  for (const char* number : {"0", "-1", "1.5", "0.1", "-9223372036854775808", "9223372036854775807",
                             "18446744073709551615", "5e-324", "1.7976931348623157e308"})
    CHECK(arrives(number) == number);
  CHECK(std::stod(arrives("18446744073709551616")) == 0x1p64);
  CHECK(refusal(patch_form::merge, "{}", R"({"a":1e309})") == 400);
  CHECK(refusal(patch_form::merge, "{}", "{\"a\":" + std::string(400, '9') + "}") == 400);
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    char text[32];
    std::snprintf(text, sizeof text, "%.17e", number);
    REQUIRE(std::strtod(arrives(text).c_str(), nullptr) == number);
  }
}

TEST_CASE("an empty object in a new member of a strategic patch is one") {
  CHECK(patched(patch_form::strategic, "{}", R"({"a":[{}],"b":{"c":{},"d":null}})") ==
        R"({"a":[{}],"b":{"c":{}}})");
}

TEST_CASE("a JSON patch follows the examples of RFC 6902") {
  const auto run = [](const char* from, const char* patch, const char* wanted) {
    check(patch_form::json, from, patch, wanted);
  };
  run(R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])",
      R"({"baz":"qux","foo":"bar"})");
  run(R"({"foo":["bar","baz"]})", R"([{"op":"add","path":"/foo/1","value":"qux"}])",
      R"({"foo":["bar","qux","baz"]})");
  run(R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])", R"({"foo":"bar"})");
  run(R"({"foo":["bar","qux","baz"]})", R"([{"op":"remove","path":"/foo/1"}])",
      R"({"foo":["bar","baz"]})");
  run(R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
      R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])",
      R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})");
  run(R"({"foo":["all","grass","cows","eat"]})",
      R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])",
      R"({"foo":["all","cows","eat","grass"]})");
  run(R"({"foo":["bar"]})", R"([{"op":"add","path":"/foo/-","value":["abc","def"]}])",
      R"({"foo":["bar",["abc","def"]]})");
  run(R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":10}])", R"({"/":9,"~1":10})");
  run(R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/c"},{"op":"replace","path":"/c/b",
      "value":2}])",
      R"({"a":{"b":1},"c":{"b":2}})");
  run(R"({"a":1})", R"([{"op":"replace","path":"","value":{"b":2}}])", R"({"b":2})");
}

TEST_CASE("a JSON patch that does not fit is refused and says where") {
  const auto code = [](const char* patch) {
    return refusal(patch_form::json, R"({"a":[1,2],"b":{"c":1}})", patch);
  };
  CHECK(code(R"([{"op":"test","path":"/a/0","value":2}])") == 422);
  CHECK(code(R"([{"op":"remove","path":"/x"}])") == 422);
  CHECK(code(R"([{"op":"replace","path":"/a/2","value":1}])") == 422);
  CHECK(code(R"([{"op":"add","path":"/x/y","value":1}])") == 422);
  CHECK(code(R"([{"op":"add","path":"/a/01","value":1}])") == 422);
  CHECK(code(R"([{"op":"move","from":"/b","path":"/b/c"}])") == 422);
  CHECK(code(R"([{"op":"jump","path":"/a"}])") == 400);
  CHECK(code(R"([{"op":"add","path":"a","value":1}])") == 400);
  CHECK(code(R"([{"op":"add","path":"/a/~2","value":1}])") == 400);
  CHECK(code(R"([{"op":"add","path":"/a"}])") == 400);
  CHECK(code(R"([7])") == 400);
  CHECK(code(R"({})") == 400);
  CHECK(patched(patch_form::json, "{}", R"([{"op":"remove","path":"/x/y"}])")
            .ends_with("remove operation does not apply: there is no /x/y"));
  // kubectl would print causes instead of the message.
  CHECK(apply_patch(patch_form::json, pod, "{}", R"([{"op":"remove","path":"/x"}])")
            .error()
            .causes.empty());
}

TEST_CASE("a JSON patch has at most 10,000 operations and copies at most 3 MiB") {
  std::string many = "[";
  for (int i = 0; i < 10'001; ++i)
    many += R"({"op":"add","path":"/a","value":1},)";
  many.back() = ']';
  CHECK(refusal(patch_form::json, "{}", many) == 413);
  many.replace(many.find(R"({"op")"), 35, "");
  CHECK(refusal(patch_form::json, "{}", many) == 0);
  std::string doubling = "[";
  for (int i = 0; i < 40; ++i)
    doubling += R"({"op":"copy","from":"/a","path":"/a/-"},)";
  doubling.back() = ']';
  const auto start = troupe::test::cpu_seconds();
  CHECK(refusal(patch_form::json, R"({"a":[1]})", doubling) == 413);
  troupe::test::check_below(troupe::test::cpu_seconds() - start, 1.0);
}

TEST_CASE("hostile patches end soon") {
  const auto start = troupe::test::cpu_seconds();
  std::string list = R"({"a":[)";
  for (int i = 0; i < 400'000; ++i)
    list += "0,";
  list += "0]}";
  std::string inserts = "[";
  for (int i = 0; i < 10'000; ++i)
    inserts += R"({"op":"add","path":"/a/0","value":1},)";
  inserts.back() = ']';
  CHECK(refusal(patch_form::json, list, inserts) == 413);

  std::string wide = "{", other = "{";
  for (int i = 0; i < 100'000; ++i) {
    wide += "\"k" + std::to_string(i) + "\":1,";
    other += "\"x" + std::to_string(i) + "\":1,";
  }
  wide.back() = other.back() = '}';
  CHECK(refusal(patch_form::merge, wide, other) == 0);
  CHECK(refusal(patch_form::strategic, wide, other) == 0);
  for (const auto form : {patch_form::json, patch_form::merge, patch_form::strategic}) {
    CHECK(refusal(form, "{}", std::string(3'000'000, '[')) == 400);
    std::string deep;
    for (int i = 0; i < 500'000; ++i)
      deep += "{\"a\":";
    CHECK(refusal(form, "{}", deep) == 400);
  }
  troupe::test::check_below(troupe::test::cpu_seconds() - start, 5.0);
}

TEST_CASE("a strategic patch merges lists by the keys of the schema") {
  const auto run = [](const char* from, const char* patch, const char* wanted) {
    check(patch_form::strategic, from, patch, wanted);
  };
  run(R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"}]}})",
      R"({"spec":{"containers":[{"name":"b","image":"3"}]}})",
      R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"3"}]}})");
  // Elements added by the patch come before elements that only the server has.
  run(R"({"spec":{"containers":[{"name":"a"}]}})", R"({"spec":{"containers":[{"name":"c"}]}})",
      R"({"spec":{"containers":[{"name":"c"},{"name":"a"}]}})");
  run(R"({"spec":{"containers":[{"name":"a","env":[{"name":"x","value":"1"}]}]}})",
      R"({"spec":{"containers":[{"name":"a","env":[{"name":"x","value":null}]}]}})",
      R"({"spec":{"containers":[{"name":"a","env":[{"name":"x"}]}]}})");
  // Lists without a merge strategy are replaced, maps of strings merged.
  run(R"({"spec":{"containers":[{"name":"a","args":["1","2"]}]},"metadata":{"labels":{"a":"1"}}})",
      R"({"spec":{"containers":[{"name":"a","args":["3"]}]},"metadata":{"labels":{"b":"2"}}})",
      R"({"spec":{"containers":[{"name":"a","args":["3"]}]},"metadata":{"labels":{"a":"1","b":"2"}}})");
  run(R"({"metadata":{"finalizers":["x","y"]}})", R"({"metadata":{"finalizers":["z","x"]}})",
      R"({"metadata":{"finalizers":["z","x","y"]}})");
  run(R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"p"}]}]}})",
      R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"hostPort":8}]}]}})",
      R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"p","hostPort":8}]}]}})");
  // Fields that the schema does not know are passed on for the decoder to check.
  run(R"({"spec":{"new":[1]}})", R"({"spec":{"new":[2]}})", R"({"spec":{"new":[2]}})");
}

TEST_CASE("directives of a strategic patch express changes that a plain patch cannot") {
  const auto run = [](const char* from, const char* patch, const char* wanted) {
    check(patch_form::strategic, from, patch, wanted);
  };
  run(R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
      R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})",
      R"({"spec":{"containers":[{"name":"b"}]}})");
  run(R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
      R"({"spec":{"containers":[{"$patch":"replace"},{"name":"c"}]}})",
      R"({"spec":{"containers":[{"name":"c"}]}})");
  // A list that is replaced may hold elements that a merge could not tell apart.
  run(R"({"spec":{"imagePullSecrets":[{"name":"a"}]}})",
      R"({"spec":{"imagePullSecrets":[{"$patch":"replace"},{},{"name":"b"},{"name":"b"}]}})",
      R"({"spec":{"imagePullSecrets":[{},{"name":"b"},{"name":"b"}]}})");
  run(R"({"spec":{"securityContext":{"runAsUser":1,"fsGroup":2}}})",
      R"({"spec":{"securityContext":{"$patch":"replace","fsGroup":3}}})",
      R"({"spec":{"securityContext":{"fsGroup":3}}})");
  run(R"({"spec":{"securityContext":{"runAsUser":1}}})",
      R"({"spec":{"securityContext":{"$patch":"delete"}}})", R"({"spec":{"securityContext":{}}})");
  run(R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
      R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/"}}]}})",
      R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/"}}]}})");
  run(R"({"metadata":{"finalizers":["x","y","z"]}})",
      R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["x","z"]}})",
      R"({"metadata":{"finalizers":["y"]}})");
  // A directive inside a new element has nothing to act on.
  run(R"({"spec":{}})", R"({"spec":{"containers":[{"name":"a"},{"name":"b","$patch":"delete"}]}})",
      R"({"spec":{"containers":[{"name":"a"}]}})");
}

TEST_CASE("$setElementOrder puts a merged list in order") {
  const auto run = [](const char* from, const char* patch, const char* wanted) {
    check(patch_form::strategic, from, patch, wanted);
  };
  run(R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}})",
      R"({"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"},{"name":"b"}]}})",
      R"({"spec":{"containers":[{"name":"c"},{"name":"a"},{"name":"b"}]}})");
  // As kubectl set image sends it.
  run(R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}]}})",
      R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"name":"a","image":"2"}]}})",
      R"({"spec":{"containers":[{"name":"a","image":"2"},{"name":"b"}]}})");
  // Elements that only the server has keep their position.
  run(R"({"spec":{"containers":[{"name":"side"},{"name":"a"}]}})",
      R"({"spec":{"$setElementOrder/containers":[{"name":"n"},{"name":"a"}],"containers":[{"name":"n"}]}})",
      R"({"spec":{"containers":[{"name":"n"},{"name":"side"},{"name":"a"}]}})");
  run(R"({"metadata":{"finalizers":["x","y"]}})",
      R"({"metadata":{"$setElementOrder/finalizers":["y","x"]}})",
      R"({"metadata":{"finalizers":["y","x"]}})");
  run(R"({"metadata":{}})",
      R"({"metadata":{"$setElementOrder/finalizers":["y","x"],"finalizers":["y","x"]}})",
      R"({"metadata":{"finalizers":["y","x"]}})");
}

TEST_CASE("malformed strategic patches are refused") {
  const auto code = [](const char* patch) {
    return refusal(patch_form::strategic,
                   R"({"spec":{"containers":[{"name":"a"}]},"metadata":{"finalizers":["x"]}})",
                   patch);
  };
  CHECK(code(R"({"spec":{"containers":[{"image":"x"}]}})") == 400);
  CHECK(code(R"({"spec":{"containers":["x"]}})") == 400);
  CHECK(code(R"({"spec":{"containers":[{"$patch":"delete"}]}})") == 400);
  CHECK(code(R"({"spec":{"$patch":"sideways"}})") == 400);
  CHECK(code(R"({"spec":{"$retainKeys":["a"],"b":1}})") == 400);
  CHECK(code(R"({"spec":{"$retainKeys":1}})") == 400);
  CHECK(code(R"({"spec":{"$setElementOrder/containers":1}})") == 400);
  CHECK(
      code(
          R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"b"}]}})") ==
      400);
  CHECK(code(R"({"metadata":{"$deleteFromPrimitiveList/finalizers":"x"}})") == 400);
}

TEST_CASE("a merge patch applied again changes nothing, nor does an empty patch") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto& kind = kind_of<core::v1::Pod>();
    random_options options;
    options.presence = seed % 2 ? 0.15 : 0.4;
    const auto a = encode_json(*random_object(kind, seed, options), "v1", "Pod");
    const auto b = encode_json(*random_object(kind, seed + 1000, options), "v1", "Pod");
    INFO("seed " << seed << " " << b);
    const auto once = patched(patch_form::merge, a, b);
    CHECK(same(patched(patch_form::merge, once, b), once));
    CHECK(same(patched(patch_form::merge, a, "{}"), a));
    CHECK(same(patched(patch_form::strategic, a, "{}"), a));
  }
}

TEST_CASE("an object applied to itself strategically is itself") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto& kind = kind_of<core::v1::Pod>();
    random_options options;
    options.presence = 0.2;
    auto object = random_object(kind, seed, options);
    const auto text = encode_json(*object, "v1", "Pod");
    const auto merged = apply_patch(patch_form::strategic, pod, text, text);
    // Elements with the same key are merged into one; in the text they are duplicates.
    if (!merged) continue;
    INFO("seed " << seed);
    const auto again = apply_patch(patch_form::strategic, pod, *merged, text);
    REQUIRE(again);
    CHECK(same(*again, *merged));
  }
}
