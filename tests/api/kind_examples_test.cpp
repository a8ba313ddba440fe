// Every kind that a client may create: its example is valid, stable under defaulting, and shown.
#include "support/kind_examples.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "api/codec/json_dom.hpp"
#include "api/conversion/shapes.hpp"
#include "api/equality.hpp"
#include "api/kind_row.hpp"
#include "api/manifests.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/tables/table.hpp"
#include "api/validation/validation.hpp"

using namespace troupe;
using namespace troupe::api;

namespace {

constexpr std::int64_t now = 1'700'000'000;
constexpr std::int64_t created_at = now - 65;

std::string document(const test::kind_example& example) {
  return "apiVersion: " + std::string(example.api_version) +
         "\nkind: " + std::string(example.kind) + "\n" + std::string(example.rest);
}

// The object that the server makes of the document, in its storage kind.
std::unique_ptr<body> made_of(const test::kind_example& example) {
  auto read = test::object_from(document(example));
  auto content = convert_to_home(*read.kind, std::move(read.content), nullptr);
  const auto& kind = home_of(*read.kind);
  const random_bits random = [] { return 7; };
  REQUIRE(settle_namespace(kind, *content, "default"));
  set_defaults(kind, *content);
  prepare_create(kind, *content, {"u-1", created_at, random});
  return content;
}

const kind_info& kind_of_example(const test::kind_example& example) {
  const auto found = scheme::instance().find(example.api_version, example.kind);
  INFO(example.api_version << " " << example.kind);
  REQUIRE(static_cast<bool>(found));
  return *found;
}

std::string told(const std::vector<error_cause>& causes) {
  std::string text;
  for (const auto& cause : causes)
    text += cause.field + ": " + cause.message + "\n";
  return text;
}

std::string row_of_table(const object_ptr& object) {
  table_options options;
  options.now_seconds = now;
  std::string text;
  append_table(text, object->kind(), std::vector<object_ptr>{object}, options);
  json_document table;
  INFO(text);
  REQUIRE(parse_json(table, text, "table"));
  const auto& cells = table["rows"][0]["cells"];
  CHECK(cells.Size() == table["columnDefinitions"].Size());
  std::string line;
  for (const auto& cell : cells.GetArray())
    line += (line.empty() ? "" : " | ") +
            (cell.IsString() ? std::string(cell.GetString()) : write_json(cell));
  return line;
}

}  // namespace

TEST_CASE("every kind that can be created has an example") {
  std::set<std::string> shown;
  for (const auto& example : test::kind_examples())
    shown.insert(std::string(example.api_version) + " " + std::string(example.kind));
  for (const kind_info* kind : scheme::instance().all()) {
    if (kind->custom() || !home_of(*kind).stored() || !kind->serves("create")) continue;
    CHECK(shown.contains(kind->api_version() + " " + kind->kind()));
  }
}

TEST_CASE("the example of every kind is valid") {
  for (const auto& example : test::kind_examples()) {
    const auto& kind = home_of(kind_of_example(example));
    const auto content = made_of(example);
    INFO(example.api_version << " " << example.kind);
    CHECK(told(validate_create(kind, *content)) == "");
    CHECK(told(validate_update(kind, *content, *content)) == "");
    CHECK(told(validate_status_update(kind, *content, *content)) == "");
  }
}

TEST_CASE("defaults of every kind are set once") {
  for (const auto& example : test::kind_examples()) {
    const auto& kind = home_of(kind_of_example(example));
    const auto once = made_of(example);
    std::unique_ptr<body> twice(once->New());
    twice->CopyFrom(*once);
    set_defaults(kind, *twice);
    INFO(example.api_version << " " << example.kind);
    CHECK(twice->ShortDebugString() == once->ShortDebugString());
  }
}

TEST_CASE("the table of every kind shows the same as upstream's") {
  for (const auto& example : test::kind_examples()) {
    if (example.row.empty()) continue;
    const auto& kind = kind_of_example(example);
    const auto& home = home_of(kind);
    const auto object = std::make_shared<const api::object>(home, made_of(example), 9);
    std::string expected(example.row);
    if (const auto at = expected.find("AGE"); at != std::string::npos)
      expected.replace(at, 3, "65s");
    INFO(example.api_version << " " << example.kind);
    CHECK(row_of_table(convert_from_home(kind, object)) == expected);
  }
}

TEST_CASE("an update that changes nothing keeps the generation of every kind") {
  for (const auto& example : test::kind_examples()) {
    const auto& kind = home_of(kind_of_example(example));
    const auto was = made_of(example);
    std::unique_ptr<body> same(was->New());
    same->CopyFrom(*was);
    prepare_update(kind, *same, *was);
    INFO(example.api_version << " " << example.kind);
    CHECK(same_meaning(*same, *was));
    CHECK(meta_of(*was).generation() == (kind.options().has_generation() ? 1 : 0));
  }
}
