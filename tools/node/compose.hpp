// Connects the rooms: store, actors, server. The only place that knows all of them.
#pragma once

#include "tools/node/node_parts.hpp"

namespace troupe::tools {

std::unique_ptr<node_parts> compose(const config::node_config& config);

}  // namespace troupe::tools
