// What the configuration says of a node's actors, in the terms of the rooms below; the same for a
// control plane and a joined machine.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/kubelet.hpp"
#include "actors/kubelet/simulated_minion.hpp"
#include "config/node_config.hpp"
#include "runtime/system.hpp"
#include "tools/node_folder.hpp"

namespace troupe::tools {

// With a seed by chance.
runtime::system_options company_options(const config::runtime_config& from);

// What runs pods: a kubelet of this machine, or a minion that is simulated.
// A kubelet's root dir is made and held first, and as long as the kubelet lives; nothing is held
// where pods are simulated.
tl::expected<std::optional<node_folder>, std::string> take_root(const config::kubelet_config& from);
actors::kubelet_options kubelet_of(const config::node_config& config, std::string node);
actors::simulated_node simulated_node_of(const config::kubelet_config& from);

}  // namespace troupe::tools
