// Validates an object against a schema.
//
// kubernetes: apiextensions-apiserver/pkg/apiserver/validation, schema/listtype, and
// kube-openapi/pkg/validation. Only .cpp files of the room include it.
#pragma once

#include "api/structural/schema_node.hpp"

namespace troupe::api {

class field_errors;

// `out.at` is the path of the value. `was`: the old value, or null; old errors in unchanged parts
// are not reported. Visits at most limits::schema_steps values: larger ones are refused.
void validate(field_errors& out, const schema_node& node, const json_value& now,
              const json_value* was);

}  // namespace troupe::api
