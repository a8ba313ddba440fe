#include "api/structural/open_schema.hpp"

#include "api/codec/json_dom.hpp"

namespace troupe::api {

namespace {

constexpr const char* keeps_unknown = "x-kubernetes-preserve-unknown-fields";

// parse_json bounds the nesting.
void open(json_value& schema, json_allocator& memory) {
  if (!schema.IsObject()) return;
  const auto* type = find_member(schema, "type");
  const bool any_type = type == nullptr || !type->IsString() || text_of(*type) == "";
  if (any_type || text_of(*type) == "object") {
    schema.RemoveMember(keeps_unknown);
    schema.AddMember(rapidjson::StringRef(keeps_unknown), true, memory);
  }
  for (const auto* name : {"items", "additionalProperties"})
    if (auto* found = find_member(schema, name)) open(*found, memory);
  auto* properties = find_member(schema, "properties");
  if (properties == nullptr || !properties->IsObject()) return;
  for (auto& each : properties->GetObject())
    open(each.value, memory);
}

}  // namespace

std::string open_schema(std::string_view schema) {
  json_document tree;
  if (schema.empty() || !parse_json(tree, schema, "the schema") || !tree.IsObject())
    tree.SetObject();
  if (!tree.HasMember("type")) tree.AddMember("type", "object", tree.GetAllocator());
  open(tree, tree.GetAllocator());
  return write_json(tree);
}

}  // namespace troupe::api
