// Flags that the commands which wait have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/client/wait.hpp"

namespace troupe::tools {

// As Kubernetes writes durations: 90s, 1m30s. What stands in `into` is the default, and is shown.
// A shorter one than `least` is refused.
void add_duration(CLI::App& to, const std::string& name, wait::duration& into,
                  const std::string& about, wait::duration least = wait::duration{0});

// -n, --namespace.
void add_namespace(CLI::App& to, std::string& into);

}  // namespace troupe::tools
