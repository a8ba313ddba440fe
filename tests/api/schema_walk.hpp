// The schema as tests see it: every message that a client can meet, found by walking from the kinds
// and from the messages of requests and responses. Uses protobuf's descriptors only, so that an
// error in the program's own tables cannot hide an error of the schema.
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
// FooList for a kind Foo; null if there is none.
const Descriptor* list_of(const Descriptor& kind);
// Kinds, their lists, messages of requests and responses, and all messages in their fields, without
// map entries.
std::set<const Descriptor*> reachable();

// The message type of a field: of a list's elements or a map's values; null for a scalar.
const Descriptor* below(const FieldDescriptor& field);
// The field with that JSON name, also through inlined messages.
const FieldDescriptor* find_json(const Descriptor& type, std::string_view name);
inline const Rule& rule_of(const FieldDescriptor& field) {
  return field.options().GetExtension(rule);
}

}  // namespace troupe::api::testing
