// When two messages mean the same: the rule for whether a write changes anything, whether a spec
// has a new generation, and whether an immutable field was left alone.
#pragma once

#include "api/fwd.hpp"

namespace troupe::api {

// Both of the same type. Absent and zero are the same where the schema does not tell them apart
// (Rule.presence), and so are absent and empty for inlined messages, for those that JSON always
// writes (Rule.always), for lists and for maps. The order of maps does not count.
bool same_meaning(const google::protobuf::Message& a, const google::protobuf::Message& b);

// The same for one field of both.
bool same_field(const google::protobuf::Message& a, const google::protobuf::Message& b,
                const google::protobuf::FieldDescriptor& field);

}  // namespace troupe::api
