#include "api/kinds/deprecations.hpp"

#include "api/kind.hpp"

namespace troupe::api {
namespace {

struct deprecation {
  std::string_view group, kind, text;
};

constexpr deprecation deprecations[] = {
    {"", "ComponentStatus", "v1 ComponentStatus is deprecated in v1.19+"},
    {"", "Endpoints",
     "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"},
};

}  // namespace

std::string_view deprecation_of(const kind_info& kind) {
  for (const auto& each : deprecations)
    if (kind.group() == each.group && kind.kind() == each.kind) return each.text;
  return {};
}

}  // namespace troupe::api
