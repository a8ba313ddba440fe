// Load that creates ConfigMaps of 1 KB.
#pragma once

#include <cstddef>
#include <string>

#include "benchmark/http_load/http_load.hpp"

namespace troupe::bench {

inline constexpr const char* maps_path = "/api/v1/namespaces/default/configmaps";
inline constexpr std::size_t map_bytes = 1'000;  // as stored, about

// `to` creates the maps `prefix`0, 1, …; over HTTP/2 if there is more than one stream.
load_options map_creates(load_options to, const std::string& prefix, std::size_t connections,
                         std::size_t streams);

}  // namespace troupe::bench
