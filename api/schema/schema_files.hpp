// The files of the schema, listed by the build: what is registered at start-up is what is linked
// in, and the build links them all.
#pragma once

#include <string_view>
#include <vector>

namespace troupe::api {

// Paths as protobuf knows them, e.g. "api/schema/core_pod.proto"; sorted.
const std::vector<std::string_view>& schema_files();

}  // namespace troupe::api
