// Defaults of the fields that the author of an object omitted. Constants are in the schema
// (Rule.default_json) and set by reflection; values computed from other fields (imagePullPolicy
// from the image's tag, an RC's selector from its template) are code.
#pragma once

#include "api/fwd.hpp"
#include "api/kind.hpp"

namespace troupe::api {

// Sets the defaults in an object from a client, in place. Idempotent. Defaults are set within
// messages that are present; an absent message is created only if the schema says so
// (`default_json: "{}"`).
void set_defaults(const kind_info& kind, body& content);

// The schema's defaults, for any message.
void set_schema_defaults(google::protobuf::Message& message);

}  // namespace troupe::api
