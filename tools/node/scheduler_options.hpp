// The profiles of the scheduler, from the settings or from a file of upstream's form.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/scheduler/profile.hpp"
#include "config/node_config.hpp"

namespace troupe::tools {

// At least one, all of them checked. What is set in the file and means nothing here is logged.
tl::expected<std::vector<actors::scheduler::profile_options>, std::string> make_scheduler_profiles(
    const config::scheduler_config& from);

}  // namespace troupe::tools
