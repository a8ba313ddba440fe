// The registry of plugins by name. A plugin registers itself at its definition:
//
//   static const scheduler::registration registered{"MyPlugin", scheduler::make_plugin<my_plugin>};
//
// Plugins of this program are listed in plugins/plugins.def instead, because a linker takes from a
// static library only referenced objects.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "actors/scheduler/framework/framework.hpp"

namespace troupe::actors::scheduler {

using plugin_factory = std::function<std::unique_ptr<plugin>()>;

template <class P>
std::unique_ptr<plugin> make_plugin() {
  return std::make_unique<P>();
}

// All known plugins; names are unique.
const std::map<std::string, plugin_factory>& known_plugins();

// A second plugin of the same name is a programming error.
struct registration {
  registration(const std::string& name, plugin_factory factory);
};

}  // namespace troupe::actors::scheduler
