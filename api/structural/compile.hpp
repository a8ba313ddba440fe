// Makes a tree of a schema's JSON, and tells why it is not structural.
//
// kubernetes: apiextensions-apiserver/pkg/apiserver/schema/{convert,validation}.go and
// pkg/apis/apiextensions/validation/validation.go. Only .cpp files of the room include it.
//
// Rules in CEL (x-kubernetes-validations) are not read yet. Their place is a member of schema_node,
// filled by `compiler::read` and asked by `validator::visit` after all other rules held.
#pragma once

#include <memory>
#include <string_view>

#include "api/structural/schema_node.hpp"

namespace troupe::api {

class findings;

struct compile_options {
  // Status is written apart from the rest: the root then takes no rule that joins both.
  bool status_apart = false;
};

// `out.at` stands at the schema. Null where anything was found. Time and memory are bounded by the
// size of the text: nesting by limits::schema_depth.
std::shared_ptr<const structural_schema> compile_schema(findings& out, std::string_view json,
                                                        const compile_options& options = {});

}  // namespace troupe::api
