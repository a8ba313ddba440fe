// The hash that ends the name of an object for a version of a controller's template. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::actors {

// FNV-1a over the bytes, and over `collisions` when it is not 0, written with the characters of
// generated names. Equal bytes have equal hashes in every run.
std::string name_hash(std::string_view bytes, std::int32_t collisions);

}  // namespace troupe::actors
