// The limits of discovery and their sources.
#pragma once

#include <cstddef>

namespace troupe::api::limits {

// Our own: maximum size of the part of another server's OpenAPI document that is kept for one
// version. Our document of all built-in kinds has 450 KB.
inline constexpr std::size_t foreign_openapi_bytes = 512u << 10;

}  // namespace troupe::api::limits
