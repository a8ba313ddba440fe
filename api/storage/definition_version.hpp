// A CustomResourceDefinition as stored by kube-apiserver up to 1.21:
// apiextensions.k8s.io/v1beta1 JSON, which may set fields once that v1 sets in each
// version.
#pragma once

#include <string>
#include <string_view>

#include "api/error.hpp"
#include "api/kind.hpp"

namespace troupe::api {

bool is_old_definition(const kind_info& kind, std::string_view api_version);
// Converts such a definition to JSON of v1. If it preserves unknown fields, v1 says so too, and its
// versions may have no schema or one that is not structural.
expected<std::string> definition_from_v1beta1(std::string_view json);
// Converts JSON of v1, except for `apiVersion`: settings that all versions share are set once, and
// members have upstream's order. A schema is written without zeros that say nothing
// (upstream_order.hpp).
expected<std::string> definition_to_v1beta1(std::string_view json);

}  // namespace troupe::api
