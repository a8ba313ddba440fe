// The rows of rbac.authorization.k8s.io: Role, RoleBinding, ClusterRole, ClusterRoleBinding.
#pragma once

#include "api/fwd.hpp"
#include "api/kind_row.hpp"

namespace troupe::api {

// Null for the bodies of other kinds.
const kind_row* rbac_row_of(const google::protobuf::Descriptor& type);

// The API group, which subjects and references to roles name.
inline constexpr std::string_view rbac_group = "rbac.authorization.k8s.io";

}  // namespace troupe::api
