// The hash suffix of an object's name for a version of a controller's template. Pure function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::actors {

// FNV-1a over the bytes, and over `collisions` if not 0, in the alphabet of generated names. Equal
// bytes have equal hashes in every process.
std::string name_hash(std::string_view bytes, std::int32_t collisions);

}  // namespace troupe::actors
