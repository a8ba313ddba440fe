// The schema as the tests see it: every message that a client can meet, found by walking from the
// kinds and from the messages that requests and answers carry. Uses protobuf's descriptors alone,
// so that a mistake of the program's own tables cannot hide one of the schema.
#pragma once

#include <google/protobuf/descriptor.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/schema/options.pb.h"

namespace troupe::api::testing {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Messages that carry the `kind` option.
std::vector<const Descriptor*> kinds();
// FooList for a kind Foo; null where there is none.
const Descriptor* list_of(const Descriptor& kind);
// Kinds, their lists, what requests and answers carry, and all messages in their fields; no map
// entries.
std::set<const Descriptor*> reachable();

// The message below a field: of the elements of a list, of the values of a map; null for a scalar.
const Descriptor* below(const FieldDescriptor& field);
// The field of that JSON name, also through inlined messages.
const FieldDescriptor* find_json(const Descriptor& type, std::string_view name);
inline const Rule& rule_of(const FieldDescriptor& field) {
  return field.options().GetExtension(rule);
}

}  // namespace troupe::api::testing
