// Decides at start which parts of the cluster's network a node has: from the configuration, the
// kind of its pods and the abilities of the machine. Pure.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "config/node_config.hpp"

namespace troupe::tools {

struct network_choice {
  bool services = false;  // nftables rules, and DNS
  bool pods = false;      // addresses and routes
  std::string log;        // the reason; empty: the configuration decides it
};

// `images`: pods run from images. `missing`: why this machine cannot have rules; empty: it can. The
// error says why a configured mode is impossible.
tl::expected<network_choice, std::string> choose_network(const config::network_config& from,
                                                         bool images, const std::string& missing);

// Whether NetworkPolicies apply to every address of pods: processes use the machine's addresses.
bool guards_all_pods(const network_choice& choice, bool images);

}  // namespace troupe::tools
