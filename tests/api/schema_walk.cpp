#include "api/schema_walk.hpp"

#include "api/schema/schema_files.hpp"

namespace troupe::api::testing {

using google::protobuf::DescriptorPool;

std::vector<const Descriptor*> kinds() {
  std::vector<const Descriptor*> found;
  for (std::string_view path : schema_files()) {
    const auto* file = DescriptorPool::generated_pool()->FindFileByName(std::string(path));
    for (int i = 0; file != nullptr && i < file->message_type_count(); ++i)
      if (file->message_type(i)->options().HasExtension(kind))
        found.push_back(file->message_type(i));
  }
  return found;
}

const Descriptor* list_of(const Descriptor& kind) {
  return kind.file()->FindMessageTypeByName(kind.name() + "List");
}

const Descriptor* below(const FieldDescriptor& field) {
  const auto* type = field.message_type();
  return field.is_map() ? type->map_value()->message_type() : type;
}

const FieldDescriptor* find_json(const Descriptor& type, std::string_view name) {
  for (int i = 0; i < type.field_count(); ++i) {
    const auto* field = type.field(i);
    if (!rule_of(*field).inline_()) {
      if (field->json_name() == name) return field;
    } else if (const auto* inner = find_json(*field->message_type(), name)) {
      return inner;
    }
  }
  return nullptr;
}

std::set<const Descriptor*> reachable() {
  std::vector<const Descriptor*> open = kinds();
  for (const auto* each : kinds())
    if (const auto* list = list_of(*each)) open.push_back(list);
  for (const char* name : {"Status", "DeleteOptions", "WatchEvent", "Table", "APIVersions",
                           "APIGroupList", "APIResourceList", "PartialObjectMetadataList"})
    open.push_back(DescriptorPool::generated_pool()->FindMessageTypeByName(
        std::string("troupe.api.meta.v1.") + name));
  open.push_back(
      DescriptorPool::generated_pool()->FindMessageTypeByName("troupe.api.runtime.Unknown"));
  std::set<const Descriptor*> found;
  while (!open.empty()) {
    const auto* type = open.back();
    open.pop_back();
    if (type == nullptr || !found.insert(type).second) continue;
    for (int i = 0; i < type->field_count(); ++i)
      open.push_back(below(*type->field(i)));
  }
  return found;
}

}  // namespace troupe::api::testing
