// From the plugin sets of a profile in the configuration to the plugins that it has. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "actors/core/settings_file.hpp"
#include "actors/scheduler/profile.hpp"
#include "api/files/kubescheduler.pb.h"

namespace troupe::actors::scheduler {

// The plugins of a profile in the order in which they are asked: those that one point switches on
// though multiPoint has them come first there, then those of multiPoint, then the rest
// (kubernetes: expandMultiPointPlugins). `path` is for the problems, which are added to `found`.
std::vector<plugin_choice> choose_plugins(const api::files::kubescheduler::Plugins& sets,
                                          std::string_view path, problems& found);

// What to say of a plugin that nobody knows, or that is not here; empty where it is fine. Plugins
// of upstream that are not here may be switched off.
std::string complain_of(const std::string& plugin, bool enabled);

}  // namespace troupe::actors::scheduler
