// Validates an object by a schema.
//
// kubernetes: apiextensions-apiserver/pkg/apiserver/validation, schema/listtype, and
// kube-openapi/pkg/validation. Only .cpp files of the room include it.
#pragma once

#include "api/structural/schema_node.hpp"

namespace troupe::api {

class findings;

// `out.at` stands at the value. `was`: the value before, or null; what was wrong and stays the same
// is not told again. Looks at limits::schema_steps values at most: what is larger is refused.
void validate(findings& out, const schema_node& node, const json_value& now, const json_value* was);

}  // namespace troupe::api
