// The order of members in JSON of kube-apiserver: that of Go's types, which is not always the order
// of field numbers that this program's JSON has.
#pragma once

#include <initializer_list>

#include "api/codec/json_dom.hpp"

namespace troupe::api {

using member_names = std::initializer_list<const char*>;

// Puts the members of these names first.
void order_members(json_value& object, member_names names, json_allocator& memory);

// Puts the members of a schema and of the schemas in it in the order of upstream's type, without
// those that upstream leaves out: zeros of fields that are no pointers, and nulls. Members
// that 1.20 does not know follow the others.
void order_schema(json_value& schema, json_allocator& memory);

// Orders the owners in the metadata of an object.
void order_owners(json_value& object, json_allocator& memory);

}  // namespace troupe::api
