// Semantic equality of messages: decides whether a write is a no-op, whether a spec gets a new
// generation, and whether an immutable field was changed.
#pragma once

#include "api/fwd.hpp"

namespace troupe::api {

// Both have the same type. Absent equals zero if the schema does not distinguish them
// (Rule.presence), and absent equals empty for inlined messages, for messages that JSON always has
// (Rule.always), for lists and for maps. The order of map entries is ignored.
bool same_meaning(const google::protobuf::Message& a, const google::protobuf::Message& b);

// The same for one field of both.
bool same_field(const google::protobuf::Message& a, const google::protobuf::Message& b,
                const google::protobuf::FieldDescriptor& field);

}  // namespace troupe::api
