#include "actors/write/admission/chain.hpp"
#include "actors/write/admission/plugins.hpp"

namespace troupe::actors::admission {

// kubernetes: pkg/kubeapiserver/options/plugins.go, AllOrderedPlugins.
plugin_list built_in_plugins() {
  return {
      make_namespace_lifecycle(),
      make_definition_lifecycle(),
      make_limit_ranger(),
      make_service_account(),
      make_priority(),
      make_default_toleration_seconds(),
      make_ephemeral_containers(),
      make_certificate_subject(),
      make_rbac_escalation(),
      make_resource_quota(),
  };
}

const chain& built_in_chain() {
  static const chain known{built_in_plugins()};
  return known;
}

}  // namespace troupe::actors::admission
