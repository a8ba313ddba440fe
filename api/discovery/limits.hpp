// The bounds of discovery and where they come from.
#pragma once

#include <cstddef>

namespace troupe::api::limits {

// Our own: what is kept about one version of the OpenAPI document of another server. Our own about
// all built-in kinds has 450 KB.
inline constexpr std::size_t foreign_openapi_bytes = 512u << 10;

}  // namespace troupe::api::limits
