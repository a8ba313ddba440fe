// Warns if the settings that all control planes of a cluster need alike differ.
//
// The key /troupe/settings holds those of the control plane that has started last. Each one
// compares its own when it starts, and replaces them: while settings are changed at one after the
// other, the first one warns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/node_config.hpp"
#include "persistence/replica/blocking_log.hpp"

namespace troupe::tools {

inline constexpr std::string_view shared_settings_key = "/troupe/settings";

// Lines of a flag and its value; the first line is the name of the node.
std::string shared_settings(const config::node_config& config);
// A sentence for each flag that both texts have with different values.
std::vector<std::string> differences(std::string_view here, std::string_view there);

// Logs the differences. Failures are logged, too: the node starts anyway.
void warn_of_other_settings(persistence::blocking_log& log, const config::node_config& config);

}  // namespace troupe::tools
