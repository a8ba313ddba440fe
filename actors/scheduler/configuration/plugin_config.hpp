// Converts the pluginConfig of a configured profile to the arguments of its plugins. Pure function.
#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include <string_view>

#include "actors/core/settings_file.hpp"
#include "actors/scheduler/framework/arguments.hpp"
#include "api/files/kubescheduler.pb.h"

namespace troupe::actors::scheduler {

// `path` is the location for problems, which are appended to `found`.
plugin_arguments read_plugin_config(
    const google::protobuf::RepeatedPtrField<api::files::kubescheduler::PluginConfig>& entries,
    std::string_view path, problems& found);

}  // namespace troupe::actors::scheduler
