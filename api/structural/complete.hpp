// What a schema changes in an object: unknown fields go, nulls that are no values go, defaults
// come.
//
// kubernetes: apiextensions-apiserver/pkg/apiserver/schema/{pruning,defaulting,objectmeta}. Only
// .cpp files of the room include it.
#pragma once

#include <string>
#include <vector>

#include "api/path.hpp"
#include "api/structural/schema_node.hpp"

namespace troupe::api {

// Both say whether they have changed anything.

// Adds the paths of what is removed to `unknown`, where it is not null: limits::document_problems
// at most.
bool prune(json_value& value, const schema_node& node, json_allocator& allocator,
           std::vector<std::string>* unknown);

// Also removes nulls that are no values.
bool set_defaults(json_value& value, const schema_node& node, json_allocator& allocator);

}  // namespace troupe::api
