// The schema of a definition of v1beta1 that preserves unknown fields everywhere.
#pragma once

#include <string>
#include <string_view>

namespace troupe::api {

// The structural schema with the same rules for known fields, which keeps all others. `schema` may
// be empty: there are no rules.
std::string open_schema(std::string_view schema);

}  // namespace troupe::api
