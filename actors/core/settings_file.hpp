// Reads settings files that have the form of a Kubernetes object: YAML or JSON with apiVersion and
// kind. Unknown and duplicate fields, wrong types and values that the schema does not allow are
// reported as problems, each with its path. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/fwd.hpp"

namespace troupe::actors {

struct settings_type {
  std::string_view api_version;
  std::string_view kind;
};

// One error message for each problem; empty if the file is valid.
using problems = std::vector<std::string>;

// Fills `into`, including the defaults of the schema.
problems read_settings(std::string_view text, const settings_type& type, api::body& into);

// Reads a nested part that is stored as JSON and need not name its type. `path` is its location.
problems read_settings_part(std::string_view json, const settings_type& type, std::string_view path,
                            api::body& into);

}  // namespace troupe::actors
