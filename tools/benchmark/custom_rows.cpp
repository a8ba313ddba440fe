#include <fmt/format.h>

#include <thread>

#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"

namespace troupe::bench {
namespace {

constexpr const char* definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

// The average size of definitions in known projects: 20 parts of 70 fields with rules, 1,400
// nodes.
constexpr int schema_parts = 20;
constexpr int part_fields = 69;

std::string schema_json() {
  std::string parts;
  for (int part = 0; part < schema_parts; ++part) {
    std::string fields;
    for (int field = 0; field < part_fields; ++field) {
      const char* rules = field % 4 == 0   ? R"("type":"string","maxLength":253)"
                          : field % 4 == 1 ? R"("type":"integer","minimum":0,"maximum":65535)"
                          : field % 4 == 2
                              ? R"("type":"string","pattern":"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")"
                              : R"("type":"boolean")";
      fields += fmt::format(R"({}"field{}":{{{}}})", field == 0 ? "" : ",", field, rules);
    }
    parts += fmt::format(R"({}"part{}":{{"type":"object","properties":{{{}}}}})",
                         part == 0 ? "" : ",", part, fields);
  }
  return fmt::format(
      R"({{"type":"object","properties":{{"spec":{{"type":"object","required":["part0"],"properties":{{{}}}}}}}}})",
      parts);
}

std::string definition_json(const std::string& group, const std::string& schema) {
  return fmt::format(
      R"({{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{{"name":"things.{0}"}},"spec":{{"group":"{0}","scope":"Namespaced",
"names":{{"plural":"things","kind":"Thing"}},
"versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{1}}}}}]}}}})",
      group, schema);
}

// About 3 KB, in 100 of the fields.
std::string thing_json(const std::string& name) {
  std::string parts;
  for (int part = 0; part < schema_parts; ++part)
    parts += fmt::format(
        R"({}"part{}":{{"field0":"{}","field1":80{},"field2":"name-{}","field3":true,"field4":"x"}})",
        part == 0 ? "" : ",", part, std::string(60, 'v'), part, part);
  return fmt::format(
      R"({{"apiVersion":"bench.example.com/v1","kind":"Thing","metadata":{{"name":"{}"}},"spec":{{{}}}}})",
      name, parts);
}

void define(test::http_client& client, const std::string& group, const std::string& schema) {
  const auto made = client.request("POST", definitions, definition_json(group, schema),
                                   {{"content-type", "application/json"}});
  if (made.status != 201) die("a definition was refused: " + made.body);
}

void wait_until_served(test::http_client& client, const std::string& group) {
  const auto since = clock::now();
  while (client.get("/apis/" + group + "/v1").status != 200)
    if (seconds_since(since) > 30) die("a custom kind is not served");
}

}  // namespace

void measure_custom(results& out, const bench_options& options) {
  const scratch place;
  const node n{options.program, place.path(), 1};
  auto client = n.client();
  const auto schema = schema_json();
  define(client, "bench.example.com", schema);
  wait_until_served(client, "bench.example.com");
  auto load = n.load();
  load.connections = 32;
  load.next = [](std::uint64_t i) {
    return load_request{"POST", "/apis/bench.example.com/v1/namespaces/default/things",
                        thing_json(fmt::format("t{}", i)), "application/json"};
  };
  out.add("HTTP creates of custom objects of 3 KB, schema of 1,400 nodes, 32 connections",
          must_run(load).per_second(), "/s", at_least(8'000));

  constexpr int count = 500;
  const scratch other;
  const node many{options.program, other.path(), 1};
  auto to_many = many.client();
  std::this_thread::sleep_for(std::chrono::seconds{2});
  const auto before = many.memory_mb();
  const auto since = clock::now();
  for (int i = 0; i < count; ++i)
    define(to_many, fmt::format("g{}.example.com", i), schema);
  const auto last = clock::now();
  wait_until_served(to_many, fmt::format("g{}.example.com", count - 1));
  out.add("500 definitions of custom kinds installed", seconds_since(since), "s", at_most(5));
  out.add("… until the last is in discovery", seconds_since(last), "s", at_most(0.5));
  out.add("… memory that they add", many.memory_mb() - before, "MB", at_most(150));
}

}  // namespace troupe::bench
