// OpenAPI v2 documents of other servers: the parts that are kept, and the merge with those of
// further servers.
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "api/discovery/foreign_openapi.hpp"
#include "api/discovery/limits.hpp"

namespace troupe::test {

using api::foreign_openapi;
using api::merge_openapi;
using api::read_openapi_v2;

namespace {

const std::string document = R"({"swagger":"2.0","paths":{
  "/apis/ext.example.com/v1/":{"get":{}},
  "/apis/ext.example.com/v1/things":{"get":{"responses":{"200":{
      "schema":{"$ref":"#/definitions/ThingList"}}}}},
  "/apis/ext.example.com/v10/others":{"get":{"schema":{"$ref":"#/definitions/Other"}}},
  "/version/":{"get":{"schema":{"$ref":"#/definitions/Info"}}}},
  "definitions":{
    "ThingList":{"properties":{"items":{"items":{"$ref":"#/definitions/Thing"}}}},
    "Thing":{"properties":{"child":{"$ref":"#/definitions/Thing"},
                           "meta":{"$ref":"#/definitions/Meta"}}},
    "Meta":{"type":"object"},"Other":{"type":"object"},"Info":{"type":"object"}}})";

std::shared_ptr<const foreign_openapi> made(foreign_openapi from) {
  return std::make_shared<const foreign_openapi>(std::move(from));
}

}  // namespace

TEST_CASE("another server's OpenAPI keeps the paths of its version and their definitions") {
  const auto read = read_openapi_v2(document, "ext.example.com", "v1");
  REQUIRE(read);
  std::vector<std::string> names;
  for (const auto& [path, text] : read->paths)
    names.push_back(path);
  for (const auto& [name, text] : read->definitions)
    names.push_back(name);
  CHECK(names == std::vector<std::string>{"/apis/ext.example.com/v1/",
                                          "/apis/ext.example.com/v1/things", "Meta", "Thing",
                                          "ThingList"});
}

TEST_CASE("an OpenAPI document that is none, or says too much, is refused") {
  for (const char* bad : {"", "[]", "{}", R"({"paths":[]})", "{\"paths\":"})
    CHECK_FALSE(read_openapi_v2(bad, "g", "v1"));
  for (const char* odd : {R"({"paths":{}})", R"({"paths":{},"definitions":7})",
                          R"({"paths":{"/apis/g/v1/a":{"$ref":"#/definitions/none"}}})"})
    CHECK(read_openapi_v2(odd, "g", "v1"));
  // Values that are not objects are left out: clients could not read the whole document.
  const auto values = read_openapi_v2(
      R"({"paths":{"/apis/g/v1/a":7,"/apis/g/v1/b":{"$ref":"#/definitions/D"}},"definitions":{"D":7}})",
      "g", "v1");
  REQUIRE(values);
  CHECK(values->paths.size() == 1);
  CHECK(values->definitions.empty());
  CHECK_FALSE(read_openapi_v2("{\"paths\":{\"/apis/g/v1/a\":{\"x\":\"\xff\"}}}", "g", "v1"));
  const std::string large(api::limits::foreign_openapi_bytes, 'x');
  const auto refused =
      read_openapi_v2(R"({"paths":{"/apis/g/v1/a":{"x":")" + large + R"("}}})", "g", "v1");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "its part about g/v1 is more than 524288 bytes");
}

TEST_CASE("a large definition with many references to it is read once") {
  std::string text = R"({"definitions":{"D":{"x":")" + std::string(400'000, 'x') +
                     R"("}},"paths":{"/apis/g/v1/a":{"all":[)";
  for (int i = 0; i < 2'000; ++i)
    text += R"({"$ref":"#/definitions/D"},)";
  text += "0]}}}";
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(read_openapi_v2(text, "g", "v1"));
  // Written each time it would take 800 MB.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{1});
}

TEST_CASE("a definition is renamed once for all references to it, to an unused name") {
  const auto of = [](foreign_openapi from) { return made(std::move(from)); };
  const auto a = of({.paths = {}, .definitions = {{"X", "{}"}}});
  const auto b = of({.paths = {{"/b", R"({"$ref":"#/definitions/X"})"}},
                     .definitions = {{"X", R"({"b":1})"}, {"X_v2", R"({"c":1})"}}});
  const auto c = of(
      {.paths = {{"/c", R"({"$ref":"#/definitions/X"})"}}, .definitions = {{"X", R"({"b":1})"}}});
  const auto all = merge_openapi({a, b, c}, {});
  CHECK(all.definitions ==
        decltype(all.definitions){{"X", "{}"}, {"X_v2", R"({"c":1})"}, {"X_v3", R"({"b":1})"}});
  const std::string renamed = R"({"$ref":"#/definitions/X_v3"})";
  CHECK(all.paths == decltype(all.paths){{"/b", renamed}, {"/c", renamed}});
}

TEST_CASE("differing definitions of one name are kept apart, and our own come first") {
  const auto first = made({.paths = {{"/a", R"({"$ref":"#/definitions/Same"})"}},
                           .definitions = {{"Same", "1"}, {"Thing", "1"}, {"Ours", "1"}}});
  const auto second = made({.paths = {{"/a", "2"}, {"/b", R"({"$ref":"#/definitions/Thing"})"}},
                            .definitions = {{"Same", "1"},
                                            {"Thing", R"({"$ref":"#/definitions/Thing"})"},
                                            {"ThingList", R"({"$ref":"#/definitions/Thing"})"}}});
  const foreign_openapi own{.paths = {{"/own", ""}}, .definitions = {{"Ours", ""}}};
  const auto all = merge_openapi({first, nullptr, second}, own);
  const std::string renamed = R"({"$ref":"#/definitions/Thing_v2"})";
  CHECK(all.paths ==
        decltype(all.paths){{"/a", R"({"$ref":"#/definitions/Same"})"}, {"/b", renamed}});
  CHECK(all.definitions ==
        decltype(all.definitions){
            {"Same", "1"}, {"Thing", "1"}, {"ThingList", renamed}, {"Thing_v2", renamed}});
}

}  // namespace troupe::test
