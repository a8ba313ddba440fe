// The life of a joined node as a process: its data dir, joining if it has not joined yet, the parts
// that run, renewal, the end. joined_node.hpp builds the parts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "config/node_config.hpp"
#include "tools/join/enrolment.hpp"
#include "tools/join/joined_node.hpp"

namespace troupe::tools {

struct join_options {
  // Empty if the machine has already joined.
  join_line line;
  // The user set the node's name, so it must not change.
  bool is_named = false;
};

using joined_composer =
    std::function<std::unique_ptr<node_parts>(const config::node_config&, joined_node_options)>;

// Runs until a signal, or the cluster, ends it. Call it before the process has other threads.
// Prints `joined CLUSTER as NAME` on stdout when the link is established for the first time. An
// error is one line: why it could not join, or why the cluster ended it.
tl::expected<void, std::string> run_joined(config::node_config config, const join_options& options,
                                           const joined_composer& compose);

}  // namespace troupe::tools
