// Completes an object by its schema: removes unknown fields and nulls that are not allowed, sets
// defaults.
//
// kubernetes: apiextensions-apiserver/pkg/apiserver/schema/{pruning,defaulting,objectmeta}. Only
// .cpp files of the room include it.
#pragma once

#include <string>
#include <vector>

#include "api/path.hpp"
#include "api/structural/schema_node.hpp"

namespace troupe::api {

// Returns true if anything was removed. Adds the removed paths to `unknown` (may be null), at most
// limits::document_problems.
bool prune(json_value& value, const schema_node& node, json_allocator& allocator,
           std::vector<std::string>* unknown);

// Also removes nulls that are not allowed. Defaults may add limits::document_bytes to an object and
// take limits::schema_steps; beyond that the object stays incomplete (too_large).
enum class completion { unchanged, changed, too_large };
completion set_defaults(json_value& value, const schema_node& node, json_allocator& allocator);

}  // namespace troupe::api
