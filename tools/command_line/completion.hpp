// Shell completion, derived from the tree of subcommands: every flag that a subcommand declares is
// completed without further code.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace troupe::tools {

// A script for the shell to evaluate. Shells: bash, zsh, fish; empty for any other.
std::string completion_script(const CLI::App& root, const std::string& shell);

}  // namespace troupe::tools
