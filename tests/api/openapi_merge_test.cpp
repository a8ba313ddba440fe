// OpenAPI v2 documents of other servers: the parts that are kept, and the merge with those of
// further servers.
#include <catch2/catch.hpp>
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

TEST_CASE("of another server's OpenAPI the paths of its version are kept, and what they refer to") {
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
  for (const char* odd :
       {R"({"paths":{}})", R"({"paths":{},"definitions":7})", R"({"paths":{"/apis/g/v1/a":7}})",
        R"({"paths":{"/apis/g/v1/a":{"$ref":"#/definitions/none"}}})"})
    CHECK(read_openapi_v2(odd, "g", "v1"));
  const std::string large(api::limits::foreign_openapi_bytes, 'x');
  const auto refused =
      read_openapi_v2(R"({"paths":{"/apis/g/v1/a":{"x":")" + large + R"("}}})", "g", "v1");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "its part about g/v1 is more than 524288 bytes");
}

TEST_CASE("definitions of one name that differ are told apart, and our own go before") {
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
