// The registry of all versions other than the hub's. It is here, above conversion/, because it uses
// the registration of each version.
#include "api/conversion/conversion.hpp"
#include "api/v1beta1/conversion.hpp"

namespace troupe::api {

const conversions& conversions::instance() {
  static const conversions* only = [] {
    auto* made = new conversions;  // outlives every thread
    v1beta1::register_pods(*made);
    v1beta1::register_workloads(*made);
    v1beta1::register_minions(*made);
    v1beta1::register_events(*made);
    return made;
  }();
  return *only;
}

}  // namespace troupe::api
