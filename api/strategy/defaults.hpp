// Defaults: values of the fields that its author left out. Constants stand in the schema
// (Rule.default_json) and are put in place by reflection; what is computed from other fields
// (imagePullPolicy from the image's tag, an RC's selector from its template) is code.
#pragma once

#include "api/fwd.hpp"
#include "api/kind.hpp"

namespace troupe::api {

// Completes an object that came from a client, in place. Idempotent: a second call changes nothing.
// Defaults are set within messages that are present; a message itself appears only where the schema
// says so (`default_json: "{}"`).
void set_defaults(const kind_info& kind, body& content);

// The part that the schema describes, for any message.
void set_schema_defaults(google::protobuf::Message& message);

}  // namespace troupe::api
