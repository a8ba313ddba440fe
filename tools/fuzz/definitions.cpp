// Definitions of custom kinds, with an object of the kind and a patch of it: from the document of
// the definition to the stored, served and patched object.
#include "api/codec/codec.hpp"
#include "api/codec/custom_json.hpp"
#include "api/codec/json_decode.hpp"
#include "api/definitions/rules.hpp"
#include "api/definitions/served_kinds.hpp"
#include "api/equality.hpp"
#include "api/object/custom_body.hpp"
#include "api/object/object.hpp"
#include "api/patch/patch.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/strategy/defaults.hpp"
#include "api/tables/table.hpp"
#include "api/validation/field_errors.hpp"
#include "api/validation/validation.hpp"
#include "api/values/text_parts.hpp"
#include "api/version_rules.hpp"
#include "tools/fuzz/entries.hpp"

namespace troupe::fuzz {
namespace {

using definition = api::apiextensions::v1::CustomResourceDefinition;
using api::CustomBody;
using rules = api::version_rules;

// Input: a definition, an object and a merge patch, one a line.
std::string_view next_line(std::string_view& text) {
  return api::take_part(text, '\n');
}

std::string seed(std::string_view version, std::string_view object, std::string_view patch) {
  return R"({"metadata":{"name":"ws.e.io"},"spec":{"group":"e.io","scope":"Namespaced",)"
         R"("names":{"plural":"ws","kind":"W"},"versions":[{"name":"v1","served":true,)"
         R"("storage":true,)" +
         std::string{version} + "}]}}\n" + std::string{object} + "\n" + std::string{patch};
}

std::vector<std::string> definitions() {
  return {
      seed(
          R"("schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","required":["a"],"properties":{"a":{"type":"integer","minimum":1,"maximum":9,"default":2},"b":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}}}},"status":{"type":"object","properties":{"a":{"type":"integer"},"s":{"type":"string"}}}}}},"subresources":{"status":{},"scale":{"specReplicasPath":".spec.a","statusReplicasPath":".status.a","labelSelectorPath":".status.s"}},"additionalPrinterColumns":[{"name":"A","type":"integer","jsonPath":".spec.a"},{"name":"K","type":"string","jsonPath":".spec.b[?(@.k==\"x\")].k"},{"name":"D","type":"date","jsonPath":".metadata.creationTimestamp"}],"selectableFields":[{"jsonPath":".spec.a"}])",
          R"({"metadata":{"name":"o"},"spec":{"a":3,"b":[{"k":"x","z":1}],"q":null}})",
          R"({"spec":{"a":null,"b":[{"k":"x"},{"k":"x"}]},"status":{"a":1,"s":"t"}})"),
      seed(
          R"("schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"m":{"type":"object","additionalProperties":{"type":"number","multipleOf":0.5,"nullable":true}},"o":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},"p":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}],"pattern":"^a"}}}})",
          R"({"metadata":{"name":"o"},"m":{"a":1.5,"b":null},"o":{"apiVersion":"v1","kind":"A","metadata":{"name":"a","q":1}},"p":"a","free":[null]})",
          R"({"m":{"b":0.25},"o":{"kind":null},"p":7,"free":null})"),
      seed(
          R"("deprecated":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"s":{"type":"object","oneOf":[{"required":["x"]},{"required":["y"]}],"not":{"required":["z"]},"properties":{"x":{"type":"string","format":"date-time","enum":["a"]},"y":{"type":"string","maxLength":3,"nullable":true,"default":"d"},"z":{"type":"boolean"}}}}}})",
          R"({"s":{"x":"a","z":true}})", R"({"s":{"x":null,"y":"long"}})")};
}

std::size_t problems(const rules& of, const CustomBody& now, const CustomBody* was,
                     rules::part part = rules::part::object) {
  api::field_errors found;
  of.check(found, now, was, part);
  return found.size();
}

void look_at(const api::kind_info& kind, const CustomBody& content) {
  const auto& of = *kind.rules();
  const api::object shown{kind, std::make_unique<CustomBody>(content), 7};
  std::string cells = "[";
  of.append_cells(cells, shown, 1'800'000'000);
  require(api::is_json(cells + "]", api::limits::json_depth + 10), "the cells of a row are JSON");
  for (const auto& path : kind.options().selectable_fields())
    static_cast<void>(of.field(content, path));
  if (!kind.options().has_scale()) return;
  if (const auto scale = of.scale(content); !scale)
    require(scale.error().code == 500 && !scale.error().message.empty(), "no scale has a reason");
  auto scaled = content;
  if (!of.set_replicas(scaled, 5)) return;
  const auto scale = of.scale(scaled);
  require(scale.has_value() && scale->wanted == 5, "a scale that is set is read again");
}

void keep_promises(const api::kind_info& kind, CustomBody content) {
  const auto& of = *kind.rules();
  if (const auto done = of.complete(content, api::field_validation::warn); !done)
    return require(done.error().code >= 400 && done.error().code < 500, "a refusal is a 4xx");
  auto again = content;
  const auto unknown = of.complete(again, api::field_validation::strict);
  require(unknown.has_value() && unknown->empty(), "what was pruned has nothing unknown");
  require(api::same_meaning(content, again), "what is complete is complete");
  require(problems(of, content, &again) == 0, "what has not changed is no error");
  const auto stored = api::to_storage(kind, content);
  const auto read = api::body_from_storage(kind, stored);
  require(read.has_value() && api::to_storage(kind, **read) == stored,
          "what is stored is read as it was written");
  require(problems(of, api::as_custom(**read), nullptr) == problems(of, content, nullptr),
          "what is stored is judged as what was sent");
  auto in_line = content;
  of.complete_stored(in_line);
  require(api::same_meaning(content, in_line), "what was written by the schema is in line with it");
  problems(of, content, nullptr, rules::part::status);
  look_at(kind, content);
}

void read_object(const api::kind_info& kind, std::string_view json, std::string_view patch) {
  const auto read = api::decode(json, api::media::json, &kind);
  if (!read) return;
  const auto& content = api::as_custom(*read->content);
  keep_promises(kind, content);
  const auto text = api::encode_json(content, kind.api_version(), kind.kind());
  const auto changed = api::apply_patch(api::patch_form::merge, kind.type(), text, patch);
  if (!changed) return;
  const auto patched = api::decode(*changed, api::media::json, &kind);
  if (!patched) return;
  const auto& now = api::as_custom(*patched->content);
  keep_promises(kind, now);
  require(problems(*kind.rules(), now, &content) <= problems(*kind.rules(), now, nullptr),
          "an update is judged no harder than a creation");
}

void read_definition(std::string_view text) {
  const auto& kind = api::kind_of<definition>();
  const auto read = api::decode(next_line(text), api::media::json, &kind);
  if (!read) return;
  auto& said = static_cast<definition&>(*read->content);
  api::set_defaults(kind, said);
  const auto whole = api::encode_json(said, kind.api_version(), kind.kind());
  const auto again = api::decode(whole, api::media::json, &kind);
  require(again.has_value() && api::same_meaning(said, *again->content),
          "a definition is read as it was written");
  if (!api::validate_create(kind, said).empty()) return;
  api::definitions::begin(said);
  definition same = said;
  same.mutable_metadata()->set_resource_version("5");
  require(api::validate_update(kind, same, same).empty(), "a definition may stay as it is");
  const auto object = next_line(text);
  const auto stored =
      std::make_shared<const api::object>(kind, std::make_unique<definition>(std::move(said)), 5);
  auto made = api::definitions::served_kinds(stored, 0);
  require(!made.empty(), "a definition that is taken has a kind");
  for (auto& each : made) {
    require(each.rules->schema() != nullptr, "a schema that is taken can be used");
    for (const auto form : {rules::document::v2, rules::document::v3})
      require(api::is_json(each.rules->published_schema(form), 1'000),
              "a published schema is JSON");
    const auto custom = api::kind_info::make_custom(each.options, each.rules, {});
    read_object(*custom, object, text);
  }
}

}  // namespace

void add_definitions(std::vector<entry>& to) {
  to.push_back({"crd", &definitions, &read_definition});
}

}  // namespace troupe::fuzz
