// The API group of roles and bindings, which subjects and references to roles name.
#pragma once

#include <string_view>

namespace troupe::api {

inline constexpr std::string_view rbac_group = "rbac.authorization.k8s.io";

}  // namespace troupe::api
