// The schema engine of custom kinds: compiling, pruning, defaulting and validation.
#include <catch2/catch.hpp>
#include <random>

#include "api/codec/json_dom.hpp"
#include "api/codec/json_text.hpp"
#include "api/limits.hpp"
#include "api/structural/compile.hpp"
#include "api/structural/complete.hpp"
#include "api/structural/validate.hpp"
#include "api/validation/field_errors.hpp"

using namespace troupe::api;

namespace {

struct wrong_schema {
  std::vector<error_cause> causes;

  bool at(const std::string& field, const std::string& text) const {
    return std::any_of(causes.begin(), causes.end(), [&](const auto& each) {
      return each.field == field && each.message.find(text) != std::string::npos;
    });
  }
};

std::string shown(const std::vector<error_cause>& causes) {
  std::string out;
  for (const auto& each : causes)
    out += each.field + ": " + each.message + "\n";
  return out;
}

std::shared_ptr<const structural_schema> compiled(const std::string& json,
                                                  const compile_options& options = {}) {
  field_errors out;
  auto made = compile_schema(out, json, options);
  INFO(json << "\n" << shown(out.take()));
  REQUIRE(made != nullptr);
  return made;
}

wrong_schema refused(const std::string& json, const compile_options& options = {}) {
  field_errors out;
  CHECK(compile_schema(out, json, options) == nullptr);
  auto causes = out.take();
  UNSCOPED_INFO(shown(causes));
  return {std::move(causes)};
}

std::string object_schema(const std::string& properties) {
  return R"({"type":"object","properties":{)" + properties + "}}";
}

json_document tree(const std::string& json) {
  json_document read;
  REQUIRE(parse_json(read, json, "a test"));
  return read;
}

std::string text_of_tree(const json_value& value) {
  std::string out;
  append_canonical_json(out, value);
  return out;
}

std::string pruned(const std::string& schema, const std::string& json,
                   std::vector<std::string>* unknown = nullptr) {
  auto value = tree(json);
  prune(value, compiled(schema)->root, value.GetAllocator(), unknown);
  return text_of_tree(value);
}

std::string defaulted(const std::string& schema, const std::string& json) {
  auto value = tree(json);
  set_defaults(value, compiled(schema)->root, value.GetAllocator());
  return text_of_tree(value);
}

wrong_schema checked(const std::string& schema, const std::string& now,
                     const std::string& was = {}) {
  const auto made = compiled(schema);
  const auto value = tree(now);
  field_errors out;
  if (was.empty()) {
    validate(out, made->root, value, nullptr);
  } else {
    const auto before = tree(was);
    validate(out, made->root, value, &before);
  }
  auto causes = out.take();
  UNSCOPED_INFO(shown(causes));
  return {std::move(causes)};
}

}  // namespace

TEST_CASE("a schema is structural or is refused with the place") {
  compiled(R"({"type":"object"})");
  compiled(object_schema(R"("spec":{"type":"object","properties":{
      "port":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]},
      "any":{"x-kubernetes-preserve-unknown-fields":true},
      "labels":{"type":"object","additionalProperties":{"type":"string"}},
      "list":{"type":"array","items":{"type":"string"}}},
      "oneOf":[{"required":["port"]},{"required":["any"]}]})"));

  CHECK(refused("{}").at("type", "must not be empty at the root"));
  CHECK(refused(R"({"type":"array","items":{"type":"string"}})")
            .at("type", "must be object at the root"));
  CHECK(refused(object_schema(R"("a":{})"))
            .at("properties[a].type", "must not be empty for specified object fields"));
  CHECK(refused(object_schema(R"("a":{"type":"array","items":{}})"))
            .at("properties[a].items.type", "must not be empty for specified array items"));
  CHECK(refused(object_schema(R"("a":{"type":"array"})"))
            .at("properties[a].items", "must be specified"));
  CHECK(
      refused(R"({"type":"object","nullable":true})").at("nullable", "cannot be true at the root"));
  CHECK(refused(R"({"type":"object","additionalProperties":{"type":"string"}})")
            .at("additionalProperties", "must not be used at the root"));
  CHECK(
      refused(
          object_schema(
              R"("a":{"type":"object","properties":{"b":{"type":"string"}},"additionalProperties":true})"))
          .at("properties[a].additionalProperties", "mutual exclusive"));
  CHECK(refused(object_schema(R"("a":{"type":"string","uniqueItems":true})"))
            .at("properties[a].uniqueItems", "quadratic"));
  CHECK(refused(object_schema(R"("a":{"$ref":"#/x"})")).at("properties[a].$ref", "not supported"));
  CHECK(refused(object_schema(R"("a":{"type":"string","anyOf":[{"type":"string"}]})"))
            .at("properties[a].anyOf[0].type", "must be empty to be structural"));
  CHECK(refused(
            object_schema(R"("a":{"type":"object","oneOf":[{"properties":{"b":{"minimum":1}}}]})"))
            .at("properties[a].properties[b]", "because it is defined in"));
  CHECK(refused(object_schema(R"("a":{"type":"string","pattern":"("})"))
            .at("properties[a].pattern", "must be a valid regular expression"));
  CHECK(refused(object_schema(R"("a":{"type":"string","minLength":-1})"))
            .at("properties[a].minLength", "not negative"));
  CHECK(refused(object_schema(R"("a":{"type":"nonsense"})"))
            .at("properties[a].type", "Unsupported value"));
  CHECK(refused(object_schema(
                    R"("metadata":{"type":"object","properties":{"labels":{"type":"object"}}})"))
            .at("properties[metadata]", "name and generateName"));
  CHECK(refused(
            object_schema(
                R"("a":{"type":"array","x-kubernetes-list-type":"map","items":{"type":"object"}})"))
            .at("properties[a].x-kubernetes-list-map-keys", "must not be empty"));
  CHECK(refused(R"({"type":"object","minProperties":1})", {.status_apart = true})
            .at("", "if the status subresource is enabled"));
}

TEST_CASE("defaults of a schema fit the schema") {
  CHECK(refused(object_schema(R"("a":{"type":"integer","default":"x"})"))
            .at("properties[a].default", "must be of type integer"));
  CHECK(refused(object_schema(R"("a":{"type":"object","default":{"b":1}})"))
            .at("properties[a].default", "must not have unspecified fields"));
  compiled(object_schema(
      R"("a":{"type":"object","default":{},"required":["b"],"properties":{"b":{"type":"integer","default":1}}})"));
}

TEST_CASE("unknown fields are pruned, and their paths are reported") {
  const auto schema = object_schema(R"("spec":{"type":"object","properties":{
      "a":{"type":"integer"},
      "open":{"type":"object","x-kubernetes-preserve-unknown-fields":true,
              "properties":{"b":{"type":"object","properties":{"c":{"type":"integer"}}}}},
      "map":{"type":"object","additionalProperties":{"type":"object","properties":{"x":{"type":"integer"}}}},
      "list":{"type":"array","items":{"type":"object","properties":{"y":{"type":"integer"}}}},
      "pod":{"type":"object","x-kubernetes-embedded-resource":true,
             "x-kubernetes-preserve-unknown-fields":true}}})");
  std::vector<std::string> unknown;
  CHECK(pruned(schema, R"({"other":1,"spec":{"a":1,"z":{"deep":1}}})", &unknown) ==
        R"({"spec":{"a":1}})");
  CHECK(unknown == std::vector<std::string>{"other", "spec.z"});
  CHECK(pruned(schema, R"({"spec":{"open":{"free":{"x":[1]},"b":{"c":1,"d":2}}}})") ==
        R"({"spec":{"open":{"b":{"c":1},"free":{"x":[1]}}}})");
  CHECK(pruned(schema, R"({"spec":{"map":{"k":{"x":1,"y":2}},"list":[{"x":1,"y":2}]}})") ==
        R"({"spec":{"list":[{"y":2}],"map":{"k":{"x":1}}}})");
  CHECK(
      pruned(
          schema,
          R"({"spec":{"pod":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","no":1},"spec":{}}}})") ==
      R"({"spec":{"pod":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{}}}})");
}

TEST_CASE("absent fields take their default where their parent is there, nulls go") {
  const auto schema = object_schema(R"("spec":{"type":"object","properties":{
      "a":{"type":"integer","default":7},
      "none":{"type":"string","nullable":true,"default":"x"},
      "plain":{"type":"string"},
      "inner":{"type":"object","default":{},"properties":{"b":{"type":"string","default":"y"}}},
      "list":{"type":"array","items":{"type":"string","default":"z"}},
      "map":{"type":"object","additionalProperties":{"type":"string"}}}})");
  CHECK(defaulted(schema, "{}") == "{}");
  CHECK(defaulted(schema, R"({"spec":{}})") == R"({"spec":{"a":7,"inner":{"b":"y"},"none":"x"}})");
  CHECK(defaulted(schema, R"({"spec":{"a":null,"none":null,"plain":null,"inner":{"b":null},
                             "list":[null,"q"],"map":{"k":null,"l":"m"}}})") ==
        R"({"spec":{"a":7,"inner":{"b":"y"},"list":["z","q"],"map":{"l":"m"},"none":null}})");
}

TEST_CASE("errors in an object have upstream's messages") {
  const auto schema = object_schema(R"("spec":{"type":"object","required":["a"],"properties":{
      "a":{"type":"integer","minimum":1,"maximum":9,"exclusiveMaximum":true,"multipleOf":2},
      "s":{"type":"string","maxLength":3,"minLength":2,"pattern":"^x","enum":["xa","xb","xyz"]},
      "d":{"type":"string","format":"date"},
      "l":{"type":"array","maxItems":2,"minItems":1,"items":{"type":"string"}},
      "m":{"type":"object","maxProperties":1,"additionalProperties":{"type":"integer"}},
      "p":{"x-kubernetes-int-or-string":true},
      "set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
      "ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port"],
        "items":{"type":"object","properties":{"port":{"type":"integer"},"n":{"type":"string","pattern":"^a"}}}}}})");
  CHECK(checked(schema, R"({"spec":{"a":4,"s":"xa","d":"2026-01-31","l":["q"],"p":"80"}})")
            .causes.empty());
  CHECK(checked(schema, R"({"spec":{}})").at("spec.a", "Required value"));
  CHECK(checked(schema, R"({"spec":{"a":"x"}})")
            .at("spec.a",
                R"(Invalid value: "string": spec.a in body must be of type integer: "string")"));
  CHECK(checked(schema, R"({"spec":{"a":0}})")
            .at("spec.a", "Invalid value: 0: spec.a in body should be greater than or equal to 1"));
  CHECK(checked(schema, R"({"spec":{"a":9}})").at("spec.a", "should be less than 9"));
  CHECK(checked(schema, R"({"spec":{"a":3}})").at("spec.a", "should be a multiple of 2"));
  CHECK(checked(schema, R"({"spec":{"a":4,"s":"xyzz"}})")
            .at("spec.s", "Too long: may not be more than 3 bytes"));
  CHECK(checked(schema, R"({"spec":{"a":4,"s":"x"}})")
            .at("spec.s", "should be at least 2 chars long"));
  CHECK(checked(schema, R"({"spec":{"a":4,"s":"ya"}})")
            .at("spec.s", "spec.s in body should match '^x'"));
  CHECK(checked(schema, R"({"spec":{"a":4,"s":"xc"}})")
            .at("spec.s", R"(Unsupported value: "xc": supported values: "xa", "xb", "xyz")"));
  CHECK(checked(schema, R"({"spec":{"a":4,"d":"31.1."}})").at("spec.d", "must be of type date"));
  CHECK(checked(schema, R"({"spec":{"a":4,"l":["a","b","c"]}})")
            .at("spec.l", "Too many: 3: must have at most 2 items"));
  CHECK(checked(schema, R"({"spec":{"a":4,"l":[]}})").at("spec.l", "should have at least 1 items"));
  CHECK(checked(schema, R"({"spec":{"a":4,"l":[5]}})").at("spec.l[0]", "must be of type string"));
  CHECK(checked(schema, R"({"spec":{"a":4,"m":{"k":"v"}}})")
            .at("spec.m[k]", "must be of type integer"));
  CHECK(checked(schema, R"({"spec":{"a":4,"p":true}})")
            .at("spec.p", "must be of type integer,string"));
  CHECK(checked(schema, R"({"spec":{"a":4,"set":["x","y","x"]}})")
            .at("spec.set[2]", R"(Duplicate value: "x")"));
  CHECK(checked(schema, R"({"spec":{"a":4,"ports":[{"port":1},{"port":1}]}})")
            .at("spec.ports[1]", R"(Duplicate value: {"port":1})"));
}

TEST_CASE("one, any, all and none of several schemas") {
  const auto with = [](const std::string& junctor) {
    return object_schema(
        R"("spec":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},)" +
        junctor + "}");
  };
  const auto one = with(R"("oneOf":[{"required":["a"]},{"required":["b"]}])");
  CHECK(checked(one, R"({"spec":{"a":1}})").causes.empty());
  CHECK(checked(one, R"({"spec":{}})").at("spec", "(oneOf). Found none valid"));
  CHECK(checked(one, R"({"spec":{"a":1,"b":1}})").at("spec", "Found 2 valid alternatives"));
  const auto any =
      with(R"("anyOf":[{"required":["a"]},{"properties":{"b":{"minimum":5}},"required":["b"]}])");
  CHECK(checked(any, R"({"spec":{"b":5}})").causes.empty());
  CHECK(
      checked(any, R"({"spec":{"b":4}})").at("spec", "must validate at least one schema (anyOf)"));
  const auto none = with(R"("not":{"required":["a","b"]})");
  CHECK(checked(none, R"({"spec":{"a":1}})").causes.empty());
  CHECK(
      checked(none, R"({"spec":{"a":1,"b":1}})").at("spec", "must not validate the schema (not)"));
  CHECK(checked(with(R"("allOf":[{"required":["a"]}])"), R"({"spec":{}})")
            .at("spec.a", "Required value"));
}

TEST_CASE("an unchanged invalid value is no error of an update") {
  const auto schema = object_schema(R"("spec":{"type":"object","properties":{
      "a":{"type":"string","pattern":"^x"},"b":{"type":"string"},
      "free":{"type":"array","items":{"type":"string","pattern":"^x"}},
      "set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
      "ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port"],
        "items":{"type":"object","properties":{"port":{"type":"integer"},"n":{"type":"string","pattern":"^a"}}}}}})");
  CHECK(checked(schema, R"({"spec":{"a":"y","b":"2"}})", R"({"spec":{"a":"y","b":"1"}})")
            .causes.empty());
  CHECK(checked(schema, R"({"spec":{"a":"z"}})", R"({"spec":{"a":"y"}})")
            .at("spec.a", "should match"));
  CHECK(checked(schema, R"({"spec":{"ports":[{"port":2,"n":"a"},{"port":1,"n":"b"}]}})",
                R"({"spec":{"ports":[{"port":1,"n":"b"}]}})")
            .causes.empty());
  // Elements of other lists have no key: the list as a whole is unchanged, or changed.
  CHECK(checked(schema, R"({"spec":{"free":["y"],"b":"1"}})", R"({"spec":{"free":["y"]}})")
            .causes.empty());
  CHECK(checked(schema, R"({"spec":{"free":["y","x"]}})", R"({"spec":{"free":["y"]}})")
            .at("spec.free[0]", "should match"));
  CHECK(checked(schema, R"({"spec":{"set":["q","q","r"]}})", R"({"spec":{"set":["q","q"]}})")
            .causes.empty());
}

TEST_CASE("formats of strings") {
  const auto fits = [](const std::string& format, const std::string& value) {
    return checked(object_schema(R"("v":{"type":"string","format":")" + format + R"("})"),
                   R"({"v":)" + quoted(value) + "}")
        .causes.empty();
  };
  for (const auto& [format, good, bad] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"date-time", "2026-01-31T00:00:00Z", "2026-01-31"},
           {"ipv4", "10.0.0.1", "::1"},
           {"ipv6", "::1", "10.0.0.1"},
           {"cidr", "10.0.0.0/8", "10.0.0.0"},
           {"uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"},
           {"byte", "aGk=", "a"},
           {"duration", "1h30m", "soon"},
           {"uri", "https://example.com/a", "a b"},
           {"hostname", "a.example.com", "-a"},
           {"email", "a@example.com", "a"},
           {"mac", "00:11:22:33:44:55", "00:11"},
           {"isbn10", "0-306-40615-2", "0-306-40615-3"},
           {"creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"},
           {"hexcolor", "#ff00ff", "#ff00f"}}) {
    INFO(format);
    CHECK(fits(format, good));
    CHECK_FALSE(fits(format, bad));
  }
  CHECK(fits("nobody-knows-it", "anything"));
}

TEST_CASE("hostile schemas and objects are bounded") {
  std::string deep = R"({"type":"string"})";
  for (std::size_t i = 0; i < limits::schema_depth + 10; ++i)
    deep = object_schema(R"("a":)" + deep);
  CHECK_FALSE(refused(deep).causes.empty());

  std::string alternatives;
  for (int i = 0; i < 200; ++i)
    alternatives +=
        (i == 0 ? "" : ",") + (R"({"pattern":"^(a|b)*c)" + std::to_string(i)) + R"($"})";
  const auto schema = object_schema(R"("l":{"type":"array","items":{"type":"string","anyOf":[)" +
                                    alternatives + "]}}");
  std::string object = R"({"l":[)";
  for (int i = 0; i < 50'000; ++i)
    object += std::string{i == 0 ? "" : ","} + R"("abababababababab")";
  const auto found = checked(schema, object + "]}");
  CHECK_FALSE(found.causes.empty());
  CHECK(found.causes.size() <= limits::causes);
}

TEST_CASE("patterns of a schema are bounded in number and in size") {
  const auto with = [](int count, const std::string& pattern) {
    std::string properties;
    for (int i = 0; i < count; ++i)
      properties += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) +
                    R"(":{"type":"string","pattern":")" + pattern + std::to_string(i) + "\"}";
    return object_schema(properties);
  };
  compiled(with(static_cast<int>(limits::schema_patterns), "^a"));
  CHECK(refused(with(static_cast<int>(limits::schema_patterns) + 1, "^a"))
            .at("properties[p200].pattern", "is one too many"));
  // Equal errors are reported once.
  std::string same;
  for (int i = 0; i < 1'000; ++i)
    same += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + R"(":{"type":"string","pattern":"^a"})";
  compiled(object_schema(same));
  CHECK(refused(with(100, "((a{100}){10}){10}")).at("properties[p50].pattern", "is one too many"));
}

TEST_CASE("a short object does not become a large one by its defaults") {
  const std::string text(100'000, 'x');
  const auto schema = compiled(object_schema(
      R"("l":{"type":"array","items":{"type":"object","properties":{"d":{"type":"string","default":")" +
      text + R"("}}}})"));
  const auto complete = [&](int elements) {
    std::string list;
    for (int i = 0; i < elements; ++i)
      list += i == 0 ? "{}" : ",{}";
    auto object = tree(R"({"l":[)" + list + "]}");
    const auto done = set_defaults(object, schema->root, object.GetAllocator());
    CHECK(json_bytes(object) < limits::document_bytes + 300'000);
    return done;
  };
  CHECK(complete(20) == completion::changed);
  CHECK(complete(20'000) == completion::too_large);
  CHECK(complete(0) == completion::unchanged);
}

// For any schema and object: defaulting twice changes nothing more, pruning leaves no unknown
// fields, and an unchanged part is never refused.
TEST_CASE("completing is idempotent for random schemas and objects") {
  std::mt19937 random{20261122};
  const auto below = [&](int n) { return std::uniform_int_distribution<int>{0, n - 1}(random); };
  std::function<std::string(int)> schema = [&](int depth) -> std::string {
    const int kind = depth > 3 ? below(3) : below(6);
    if (kind == 0) return R"({"type":"string","default":"d"})";
    if (kind == 1) return R"({"type":"integer","nullable":true})";
    if (kind == 2) return R"({"x-kubernetes-preserve-unknown-fields":true})";
    if (kind == 3) return R"({"type":"array","items":)" + schema(depth + 1) + "}";
    if (kind == 4) return R"({"type":"object","additionalProperties":)" + schema(depth + 1) + "}";
    std::string all;
    for (const char name : {'a', 'b', 'c'})
      if (below(3) > 0)
        all += (all.empty() ? "\"" : ",\"") + std::string{name} + "\":" + schema(depth + 1);
    return R"({"type":"object","properties":{)" + all + "}}";
  };
  std::function<std::string(int)> value = [&](int depth) -> std::string {
    const int kind = depth > 4 ? below(4) : below(6);
    if (kind == 0) return "null";
    if (kind == 1) return "7";
    if (kind == 2) return R"("x")";
    if (kind == 3) return "true";
    std::string all;
    for (const char name : {'a', 'b', 'c', 'd'})
      if (below(2) > 0) {
        if (!all.empty()) all += ',';
        if (kind == 4) all += "\"" + std::string{name} + "\":";
        all += value(depth + 1);
      }
    return kind == 4 ? "{" + all + "}" : "[" + all + "]";
  };
  for (int round = 0; round < 500; ++round) {
    const auto made = compiled(object_schema("\"a\":" + schema(0) + ",\"b\":" + schema(0)));
    auto object = tree("{\"a\":" + value(0) + ",\"b\":" + value(0) + "}");
    auto& allocator = object.GetAllocator();
    const auto complete = [&](std::vector<std::string>* unknown) {
      prune(object, made->root, allocator, unknown);
      set_defaults(object, made->root, allocator);
      return text_of_tree(object);
    };
    const auto once = complete(nullptr);
    std::vector<std::string> unknown;
    CHECK(complete(&unknown) == once);
    CHECK(unknown.empty());
    field_errors out;
    validate(out, made->root, object, &object);
    CHECK(out.empty());
  }
}
