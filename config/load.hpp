// Brings the four sources together: defaults, the file, the environment, flags; a later one wins.
// Pure but for reading the file. A bad value is refused even where a later source overrides it.
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
  // Empty: the file that TROUPE_CONFIG names, or none.
  std::filesystem::path file = {};
  pairs environment = {};
  pairs flags = {};
  // What the node is called when no source says it.
  std::string host_name = {};
};

struct loaded_config {
  node_config config;
  // Where the value of a key is from, by the key's name: "default", "troupe.yaml:7", "--listen".
  std::map<std::string, std::string, std::less<>> sources;
};

// One line for each thing that is wrong: source, key, expected form.
using problems = std::vector<std::string>;

tl::expected<loaded_config, problems> load(const inputs& from,
                                           std::span<const setting> rows = table());

// The environment and host name of this process; no file, no flags.
inputs process_inputs();

// A host's name as the name of a node: lower case, what DNS does not allow replaced by '-'.
std::string node_name_of(std::string_view host_name);

}  // namespace troupe::config
