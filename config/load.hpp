// Merges four sources: defaults, file, environment, flags; a later source wins. Pure except for
// reading the file. An invalid value is an error even if a later source overrides it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "config/sources.hpp"
#include "config/table.hpp"

namespace troupe::config {

struct inputs {
  // Empty: the file named by TROUPE_CONFIG, or none.
  std::filesystem::path file = {};
  pairs environment = {};
  pairs flags = {};
  // The default of the node's name.
  std::string host_name = {};
};

struct loaded_config {
  node_config config;
  // The source of each key's value: "default", "troupe.yaml:7", "--listen".
  std::map<std::string, std::string, std::less<>> sources;
};

// One line for each problem: source, key, expected form.
using problems = std::vector<std::string>;

tl::expected<loaded_config, problems> load(const inputs& from,
                                           std::span<const setting> rows = table());

// The environment and host name of this process; no file, no flags.
inputs process_inputs();

// Converts a host name to a node name: lower case, invalid characters replaced by '-'.
std::string node_name_of(std::string_view host_name);

}  // namespace troupe::config
