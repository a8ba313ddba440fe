#include "actors/scheduler/registry.hpp"

#include "actors/scheduler/plugins/plugins.hpp"
#include "api/invariant.hpp"

namespace troupe::actors::scheduler {

namespace {

std::map<std::string, plugin_factory>& registry() {
#define TROUPE_PLUGIN(name, function) {#name, make_##function},
  static std::map<std::string, plugin_factory> all{
#include "actors/scheduler/plugins/plugins.def"
  };
#undef TROUPE_PLUGIN
  return all;
}

}  // namespace

const std::map<std::string, plugin_factory>& known_plugins() {
  return registry();
}

registration::registration(const std::string& name, plugin_factory factory) {
  const bool fresh = registry().emplace(name, std::move(factory)).second;
  api::ensure(fresh, "two scheduler plugins have one name");
}

}  // namespace troupe::actors::scheduler
