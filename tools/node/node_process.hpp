// The life of a node as a process: data dir and root dir with their locks, log, limits, signals,
// systemd notifications, the ready line, the end. node_parts implement the node itself.
#pragma once

#include <chrono>
#include <string>
#include <tl/expected.hpp>

#include "config/node_config.hpp"
#include "tools/defaults.hpp"
#include "tools/node/node_parts.hpp"

namespace troupe::tools {

// Runs a node until a signal ends it. Call it before the process has other threads. Prints
// `ready https://ADDRESS KUBECONFIG=DATA-DIR/admin.kubeconfig` on stdout when it serves. An error
// is one line: why it could not start.
tl::expected<void, std::string> run_node(
    const config::node_config& config, const composer& compose,
    std::chrono::milliseconds stop_limit = defaults::stop_limit);

}  // namespace troupe::tools
