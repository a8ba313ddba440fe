// A CustomResourceDefinition as kube-apiserver up to 1.21 stores it: JSON of
// apiextensions.k8s.io/v1beta1, which may say once for all versions what v1 says for each.
#pragma once

#include <string>
#include <string_view>

#include "api/error.hpp"
#include "api/kind.hpp"

namespace troupe::api {

bool is_old_definition(const kind_info& kind, std::string_view api_version);
// The same definition in JSON of v1. A definition that keeps fields without a schema is read with
// one that allows all.
expected<std::string> definition_from_v1beta1(std::string_view json);

}  // namespace troupe::api
