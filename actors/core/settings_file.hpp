// Files of settings in the form of an object of Kubernetes: YAML or JSON, with apiVersion and kind.
// Nothing is passed over: an unknown or doubled field, another type and a value that the schema
// does not allow are problems, each with its path. Pure.
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

// One a line of an error message; empty: all is well.
using problems = std::vector<std::string>;

// Fills `into`, defaults of the schema included.
problems read_settings(std::string_view text, const settings_type& type, api::body& into);

// The same for a part that is kept as JSON and need not name its type. `path`: where it stands.
problems read_settings_part(std::string_view json, const settings_type& type, std::string_view path,
                            api::body& into);

}  // namespace troupe::actors
