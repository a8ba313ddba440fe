// Compiles a schema's JSON into a tree, and reports why it is not structural.
//
// kubernetes: apiextensions-apiserver/pkg/apiserver/schema/{convert,validation}.go and
// pkg/apis/apiextensions/validation/validation.go. Only .cpp files of the room include it.
//
// CEL rules (x-kubernetes-validations) are not supported. Their place would be a member of
// schema_node, filled by `compiler::read` and evaluated by `validator::visit` after all other
// rules.
#pragma once

#include <memory>
#include <string_view>

#include "api/structural/schema_node.hpp"

namespace troupe::api {

class field_errors;

struct compile_options {
  // The status is a subresource: the root may not have rules that join it with the rest.
  bool status_apart = false;
};

// `out.at` is the path of the schema. Null if there are findings. Time and memory are bounded by
// the size of the text, nesting by limits::schema_depth.
std::shared_ptr<const structural_schema> compile_schema(field_errors& out, std::string_view json,
                                                        const compile_options& options = {});

}  // namespace troupe::api
