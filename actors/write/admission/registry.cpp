#include "actors/write/admission/chain.hpp"
#include "actors/write/admission/plugins.hpp"

namespace troupe::actors::admission {

plugin_list built_in_plugins() {
#define TROUPE_PLUGIN(name) make_##name(),
  return {
#include "actors/write/admission/plugins.def"
  };
#undef TROUPE_PLUGIN
}

const chain& built_in_chain() {
  static const chain known{built_in_plugins()};
  return known;
}

}  // namespace troupe::actors::admission
