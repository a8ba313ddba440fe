// The definitions of real projects: each is accepted and served, and an object generated from its
// schema passes all operations.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/codec/codec.hpp"
#include "api/schema/apiextensions_v1.pb.h"
#include "api/scheme.hpp"
#include "api/structural/compile.hpp"
#include "api/validation/field_errors.hpp"
#include "build_paths.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "support/schema_example.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"

using namespace troupe;
using namespace troupe::server::testing;
namespace fs = std::filesystem;
using definition = api::apiextensions::v1::CustomResourceDefinition;

namespace {

const fs::path projects = fs::path{TROUPE_SOURCE_DIR} / "../shared/data/ecosystem";
const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Each definition in the documents of each file, as JSON.
std::vector<std::string> definitions_in(const fs::path& folder) {
  std::vector<std::string> found;
  for (const auto& each : fs::recursive_directory_iterator{folder}) {
    if (!each.is_regular_file()) continue;
    auto text = "\n" + read(each.path());
    for (std::size_t from = 0; from != text.npos;) {
      const auto end = text.find("\n---", from + 1);
      const auto part = text.substr(from, end - from);
      from = end == text.npos ? end : text.find('\n', end + 1);
      if (part.find("\nkind: CustomResourceDefinition") == part.npos) continue;
      const auto json = api::yaml_to_json(part);
      REQUIRE(json);
      found.push_back(*json);
    }
  }
  return found;
}

struct installed {
  definition said;
  std::string version;   // the stored one
  std::string path;      // of its objects
  std::string manifest;  // of one object
};

std::string object_json(const installed& of, const std::string& name, const std::string& members) {
  const auto& spec = of.said.spec();
  std::string rest = members.substr(1);
  if (rest != "}") rest.insert(0, ",");
  return fmt::format(R"({{"apiVersion":"{}/{}","kind":"{}","metadata":{{"name":"{}"}}{})",
                     spec.group(), of.version, spec.names().kind(), name, rest);
}

installed understood(const std::string& json) {
  installed made;
  REQUIRE(api::decode_into(json, api::media::json, made.said));
  const auto& spec = made.said.spec();
  for (const auto& version : spec.versions()) {
    if (!version.storage()) continue;
    made.version = version.name();
    api::field_errors wrong;
    const auto schema = api::compile_schema(wrong, version.schema().open_api_v3_schema().raw());
    REQUIRE(schema != nullptr);
    if (const auto example = test::schema_example(*schema))
      made.manifest = object_json(made, "a", *example);
  }
  made.path = "/apis/" + spec.group() + "/" + made.version + "/" +
              (spec.scope() == "Namespaced" ? "namespaces/default/" : "") + spec.names().plural();
  return made;
}

void use(rest_test& server, const installed& kind) {
  const auto& spec = kind.said.spec();
  INFO(spec.names().plural() << ": " << kind.manifest);
  REQUIRE_FALSE(kind.manifest.empty());
  watching watch{server.where(), kind.path + "?watch=1&resourceVersion=0"};
  const auto made = server.post(kind.path, kind.manifest);
  INFO(made.text());
  REQUIRE(made.status == 201);
  const auto event = watch.next();
  REQUIRE(event);
  CHECK(event->at("object.metadata.name") == "a");
  CHECK(server.get(kind.path).size("items") == 1);
  const auto table =
      server.get(kind.path, {{"accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  CHECK(table.size("rows.0.cells") == table.size("columnDefinitions"));
  const auto patched =
      server.patch(kind.path + "/a", "merge", R"({"metadata":{"labels":{"x":"y"}}})");
  CHECK(patched.at("metadata.labels.x") == "y");
  // Nothing has changed: no field of it is unknown, and defaults are set once.
  const auto again = server.put(kind.path + "/a", patched.text());
  CHECK(again.status == 200);
  CHECK(again.at("metadata.resourceVersion") == patched.at("metadata.resourceVersion"));
  CHECK(server
            .post(kind.path + "?fieldValidation=Strict",
                  object_json(kind, "b", R"({"noSuchFieldAnywhere":1})"))
            .status >= 400);
  if (made.has("spec")) {
    const auto wrong = server.patch(kind.path + "/a", "merge", R"({"spec":"no object"})");
    CHECK(wrong.status == 422);
    CHECK(wrong.at("details.causes.0.field") == "spec");
  }
  CHECK(server.remove(kind.path + "/a").status == 200);
}

}  // namespace

TEST_CASE("the definitions of real projects are served, and objects of theirs live") {
  if (!fs::exists(projects)) return test::skip(projects.string() + " does not exist");
  const test::scratch_folder folder;
  for (const auto& each : fs::directory_iterator{projects}) {
    const auto unpack =
        fmt::format("tar -xJf '{}' -C '{}'", each.path().string(), folder.path().string());
    if (std::system(unpack.c_str()) != 0) return test::skip("tar cannot unpack .tar.xz here");
  }
  const auto all = definitions_in(folder.path());
  REQUIRE(all.size() >= 29);
  rest_test server{{.simulated_nodes = 1}};
  std::vector<installed> kinds;
  for (const auto& json : all) {
    auto kind = understood(json);
    const auto made = server.post(definitions, json);
    INFO(kind.said.metadata().name() << "\n" << made.text());
    REQUIRE(made.status == 201);
    kinds.push_back(std::move(kind));
  }
  for (const auto& kind : kinds) {
    REQUIRE(rest_test::eventually([&] { return server.get(kind.path).status == 200; }));
    use(server, kind);
  }
  CHECK(server.get("/openapi/v2").status == 200);
  // Applied on top, as Flux and Helm do it, twice: the second time changes nothing.
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto path = definitions + "/" + kinds[i].said.metadata().name() + "?fieldManager=flux";
    const auto applied =
        server.request("PATCH", path, all[i], {{"content-type", "application/apply-patch+yaml"}});
    INFO(path << "\n" << applied.text());
    CHECK(applied.status == 200);
    const auto again =
        server.request("PATCH", path, all[i], {{"content-type", "application/apply-patch+yaml"}});
    CHECK(again.at("metadata.resourceVersion") == applied.at("metadata.resourceVersion"));
    const auto object =
        server.request("PATCH", kinds[i].path + "/a?fieldManager=flux", kinds[i].manifest,
                       {{"content-type", "application/apply-patch+yaml"}});
    INFO(object.text());
    CHECK(object.status == 201);
  }
}
