// Changes an object as its schema says: unknown fields go, nulls that are no values go, defaults
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

// Says whether anything went. Adds the paths of what is removed to `unknown`, where it is not null:
// limits::document_problems at most.
bool prune(json_value& value, const schema_node& node, json_allocator& allocator,
           std::vector<std::string>* unknown);

// Also removes nulls that are no values. Defaults may add limits::document_bytes to an object, and
// take limits::schema_steps; what would be more is left unfinished.
enum class completion { unchanged, changed, too_large };
completion set_defaults(json_value& value, const schema_node& node, json_allocator& allocator);

}  // namespace troupe::api
