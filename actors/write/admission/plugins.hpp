// The built-in admission plugins (plugins.def). Each is described in its own file.
#pragma once

#include <memory>

#include "actors/write/admission/plugin.hpp"

namespace troupe::actors::admission {

using plugin_ptr = std::shared_ptr<const plugin>;

#define TROUPE_PLUGIN(name) plugin_ptr make_##name();
#include "actors/write/admission/plugins.def"
#undef TROUPE_PLUGIN

}  // namespace troupe::actors::admission
