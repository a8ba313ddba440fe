// Turns the configuration into the options of the actor system, the kubelet and a simulated minion.
// A control plane and a joined machine use the same.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/node/kubelet.hpp"
#include "actors/kubelet/simulated/simulated_minion.hpp"
#include "config/node_config.hpp"
#include "runtime/actor_system.hpp"
#include "tools/node/node_folder.hpp"

namespace troupe::tools {

// The seed is random.
runtime::system_options make_system_options(const config::runtime_config& from);

// What runs pods: a kubelet of this machine, or a minion that is simulated.
// A kubelet's root dir is made and held first, and as long as the kubelet lives; nothing is held
// where pods are simulated.
tl::expected<std::optional<node_folder>, std::string> lock_root_dir(
    const config::kubelet_config& from);
// With a container runtime, whose threads begin.
actors::kubelet_options make_kubelet_options(const config::node_config& config, std::string node);
actors::simulated_node make_simulated_node(const config::kubelet_config& from);

}  // namespace troupe::tools
