// The namespaces of every cluster, which must not be deleted (kubernetes:
// pkg/controlplane/controller/systemnamespaces, and "default").
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace troupe::api {

inline constexpr std::array system_namespaces{"default", "kube-system", "kube-public",
                                              "kube-node-lease"};

inline bool is_system_namespace(std::string_view name) noexcept {
  return std::find(system_namespaces.begin(), system_namespaces.end(), name) !=
         system_namespaces.end();
}

}  // namespace troupe::api
