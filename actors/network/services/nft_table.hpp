// Generates nft scripts for the table of all services on a node in one address family, `ip troupe`
// or `ip6 troupe`, as a whole or as a difference. A service is map elements (with affinity also its
// own sets and chains), and so are a pod's host ports: a change costs its size. Chains per number
// of endpoints never change (docs/decisions/0050-services-by-nftables.md). Other tables are not
// touched. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "actors/network/services/service_elements.hpp"
#include "actors/network/services/udp_connections.hpp"

namespace troupe::actors::services {

struct table_options {
  // Empty: the table has host ports only.
  std::string service_network;
  // Range of pods with their own addresses; empty: pods share the addresses of their nodes.
  std::string pod_network = {};
  const address_family* family = &family_v4;
  // An address of the loopback device that only this machine and its pods may use; empty: none.
  std::string inner_address = {};
};

// The desired state of the table. If two services need the same element, the first by name gets it.
class service_table {
 public:
  explicit service_table(table_options options)
      : options_{std::move(options)},
        service_network_{api::cidr::parse(options_.service_network)} {}

  // Replaces the elements of a service, or of anything else that has such a name.
  void replace(const std::string& service, elements wanted);

  // Script that replaces the table in one transaction: traffic sees the old or the new rules.
  std::string whole();
  // Script with the changes since the last script; empty: none. The whole table before the first
  // script, or if a service has more endpoints than the chains cover.
  std::string difference();
  // Script that changes nothing and fails if the table does not exist; empty before the first
  // script.
  std::string probe() const;
  // UDP destinations with changed endpoints in the scripts since in_force() (after `whole`: all).
  udp_endpoints changed_udp() const;
  // The last script was applied.
  void in_force() { changed_udp_.clear(); }
  std::size_t size() const { return owners_.size(); }
  const address_family& family() const { return *options_.family; }
  const std::optional<api::cidr>& service_network() const { return service_network_; }

 private:
  using owned = std::map<std::string, std::string>;  // data by service

  std::map<std::string, std::size_t> wanted_chains() const;
  void note_udp(const element_key& slot);

  const table_options options_;
  const std::optional<api::cidr> service_network_;
  std::map<std::string, elements> services_;
  std::map<element_key, owned> owners_;
  bool created_ = false;
  elements written_;  // as of the last script
  std::set<element_key> changed_;
  std::set<std::string> changed_udp_;
  // Number of endpoints covered by each kind of chain in the last whole script.
  std::map<std::string, std::size_t> chains_;
};

// Script that removes the table if it exists.
std::string no_table(const address_family& family);

}  // namespace troupe::actors::services
