// The profiles of the scheduler, from the settings or from a file in upstream's form.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/scheduler/profile.hpp"
#include "config/node_config.hpp"

namespace troupe::tools {

// Returns at least one, all checked. Logs settings of the file that have no effect here.
tl::expected<std::vector<actors::scheduler::profile_options>, std::string> make_scheduler_profiles(
    const config::scheduler_config& from);

}  // namespace troupe::tools
