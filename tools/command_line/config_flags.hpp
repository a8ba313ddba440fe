// Flags for the keys of the configuration, derived from its table, and the configuration that
// results from them, the file and the environment.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <tl/expected.hpp>

#include "config/load.hpp"

namespace troupe::tools {

class config_flags {
 public:
  // Adds --config and a flag for each key.
  explicit config_flags(CLI::App& to);
  config_flags(const config_flags&) = delete;
  config_flags& operator=(const config_flags&) = delete;

  // Call after the command line was parsed. Errors go to stderr, one per line.
  tl::expected<config::loaded_config, int> load() const;

 private:
  std::string file_;
  // Keyed by the flag's name; the option knows whether the flag was given.
  struct given {
    std::string text;
    const CLI::Option* option = nullptr;
  };
  std::map<std::string, given, std::less<>> flags_;
};

}  // namespace troupe::tools
