// Flags shared by the commands that wait.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/client/wait.hpp"

namespace troupe::tools {

// A duration in Kubernetes' form: 90s, 1m30s. The value of `into` is the default, and is shown.
// Refuses a value shorter than `least`.
void add_duration(CLI::App& to, const std::string& name, wait::duration& into,
                  const std::string& about, wait::duration least = wait::duration{0});

// -n, --namespace.
void add_namespace(CLI::App& to, std::string& into);

}  // namespace troupe::tools
