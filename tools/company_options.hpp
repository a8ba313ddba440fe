// What the configuration says of a node's actors, in the terms of the rooms below; the same for a
// control plane and a joined machine.
#pragma once

#include "actors/kubelet/node_agent.hpp"
#include "config/node_config.hpp"
#include "runtime/system.hpp"

namespace troupe::tools {

// With a seed by chance.
runtime::system_options company_options(const config::runtime_config& from);

actors::node_timing timing_of(const config::kubelet_config& from);

}  // namespace troupe::tools
