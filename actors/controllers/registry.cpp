#include "actors/controllers/registry.hpp"

namespace troupe::actors {

#define TROUPE_CONTROLLER(name) \
  namespace name {              \
  controller_type controller(); \
  }
#include "actors/controllers/controllers.def"
#undef TROUPE_CONTROLLER

const std::vector<controller_type>& known_controllers() {
#define TROUPE_CONTROLLER(name) name::controller(),
  static const std::vector<controller_type> all{
#include "actors/controllers/controllers.def"
  };
#undef TROUPE_CONTROLLER
  return all;
}

}  // namespace troupe::actors
