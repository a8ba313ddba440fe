// Converts the plugin sets of a configured profile to its list of plugins. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "actors/core/settings_file.hpp"
#include "actors/scheduler/profile.hpp"
#include "api/files/kubescheduler.pb.h"

namespace troupe::actors::scheduler {

// The plugins of a profile in the order of their calls: at an extension point first those that the
// point enables although multiPoint has them, then those of multiPoint, then the rest (kubernetes:
// expandMultiPointPlugins). `path` is the location for problems, which are appended to `found`.
std::vector<plugin_choice> choose_plugins(const api::files::kubescheduler::Plugins& sets,
                                          std::string_view path, problems& found);

// The problem with an unknown or unavailable plugin; empty if there is none. Upstream's plugins
// that are unavailable here may be disabled.
std::string find_plugin_problem(const std::string& plugin, bool enabled);

}  // namespace troupe::actors::scheduler
