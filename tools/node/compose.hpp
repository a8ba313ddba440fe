// Puts the rooms together: store, actors, server. The one place that knows them all.
#pragma once

#include "tools/node/node_parts.hpp"

namespace troupe::tools {

std::unique_ptr<node_parts> compose(const config::node_config& config);

}  // namespace troupe::tools
