// The files of the schema, listed by the build, which links all of them: types are registered at
// start-up only if they are linked in.
#pragma once

#include <string_view>
#include <vector>

namespace troupe::api {

// Paths as in protobuf, e.g. "api/schema/core_pod.proto"; sorted.
const std::vector<std::string_view>& schema_files();

}  // namespace troupe::api
