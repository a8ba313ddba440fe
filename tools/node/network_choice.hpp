// What a node has of the cluster's network: decided when it starts, by the configuration, by what
// its pods are and by what the machine allows. Pure.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "config/node_config.hpp"

namespace troupe::tools {

struct network_choice {
  bool services = false;  // rules, and names
  bool pods = false;      // addresses and routes
  std::string log;        // says why; empty: the configuration says it
};

// `images`: pods run from images. `missing`: why this machine can have no rules; empty: it can. The
// error says what stands against a mode that was named.
tl::expected<network_choice, std::string> choose_network(const config::network_config& from,
                                                         bool images, const std::string& missing);

}  // namespace troupe::tools
