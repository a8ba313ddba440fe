// The schema of a message type and its fields, read once: rules, JSON forms, and the members of its
// JSON object, with inlined messages flattened into their parents.
//
// Read-only after construction, at a fixed address for the life of the process, thread
// safe.
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/fwd.hpp"
#include "api/schema/options.pb.h"

namespace troupe::api {

class type_info;

struct field_info {
  const google::protobuf::FieldDescriptor* field = nullptr;
  const Rule* rule = nullptr;  // never null: an empty rule where the schema has none
  // The message type of the field, of its elements or of its map's values; null for scalars.
  const type_info* type = nullptr;

  const std::string& name() const { return field->json_name(); }
  // The field that holds the values of a map; the field itself otherwise.
  const google::protobuf::FieldDescriptor* value_field() const {
    return field->is_map() ? field->message_type()->map_value() : field;
  }
};

// A member of a message's JSON object: the path through inlined messages, and the field.
struct member {
  std::vector<const google::protobuf::FieldDescriptor*> through;
  const field_info* info = nullptr;

  const std::string& name() const { return info->name(); }
};

class type_info {
 public:
  // Made at the first call for a type, together with all types below it.
  static const type_info& of(const google::protobuf::Descriptor& type);

  const google::protobuf::Descriptor& descriptor() const noexcept { return *descriptor_; }
  Form form() const noexcept { return form_; }
  Union union_of_fields() const noexcept { return union_; }
  const std::string& about() const noexcept { return *about_; }

  // In the order of the schema file.
  const std::vector<field_info>& fields() const noexcept { return fields_; }
  const std::vector<member>& members() const noexcept { return members_; }
  // Null if the JSON object has no such member.
  const member* find(std::string_view json_name) const;

 private:
  friend class type_registry;
  type_info() = default;

  const google::protobuf::Descriptor* descriptor_ = nullptr;
  Form form_ = OBJECT;
  Union union_ = ANY;
  const std::string* about_ = nullptr;
  std::vector<field_info> fields_;
  std::vector<member> members_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
};

}  // namespace troupe::api
