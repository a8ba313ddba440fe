// What the configuration says of a node's actors, in the terms of the rooms below; the same for a
// control plane and a joined machine.
#pragma once

#include <string>

#include "actors/kubelet/kubelet.hpp"
#include "actors/kubelet/simulated_minion.hpp"
#include "config/node_config.hpp"
#include "runtime/system.hpp"

namespace troupe::tools {

// With a seed by chance.
runtime::system_options company_options(const config::runtime_config& from);

// What runs pods: a kubelet of this machine, or a minion that is simulated.
actors::kubelet_options kubelet_of(const config::kubelet_config& from, std::string node);
actors::simulated_node simulated_node_of(const config::kubelet_config& from);

}  // namespace troupe::tools
