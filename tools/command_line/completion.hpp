// Shell completion, made from the command line's own tree: whatever a subcommand declares can be
// completed without further code.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace troupe::tools {

// A script for the shell to evaluate. Shells: bash, zsh, fish; another gives an empty text.
std::string completion_script(const CLI::App& root, const std::string& shell);

}  // namespace troupe::tools
