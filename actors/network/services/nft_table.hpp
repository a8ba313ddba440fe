// The text that nft reads: the table of all services of a node and one family of addresses,
// `ip troupe` or `ip6 troupe`, whole or as a difference. A service is elements of maps only, so
// that a change costs what it changes; chains are made for a number of endpoints and never change
// (docs/decisions/0050-services-by-nftables.md). Tables of others are not touched. Pure.
#pragma once

#include <map>
#include <set>
#include <string>

#include "actors/network/services/service_elements.hpp"
#include "actors/network/services/udp_connections.hpp"

namespace troupe::actors::services {

struct table_options {
  std::string service_network;
  // Whose pods have addresses of their own; empty: pods share the addresses of their nodes.
  std::string pod_network = {};
  const address_family* family = &family_v4;
};

// What the kernel is to have. Two services may want the same element: the first by name has it.
class service_table {
 public:
  explicit service_table(table_options options) : options_{std::move(options)} {}

  // In place of what the service had.
  void replace(const std::string& service, elements wanted);

  // Replaces the table, in one transaction: traffic sees the old one or the new one.
  std::string whole();
  // What has changed since the last text; empty: nothing. The whole, where a service has so many
  // endpoints that no chain was made for it.
  std::string difference();
  // Changes nothing, and fails where the table is not there.
  std::string probe() const;
  // Destinations by UDP whose endpoints the texts have changed (the whole: all), until in_force().
  udp_endpoints changed_udp() const;
  // The last text has taken effect.
  void in_force() { changed_udp_.clear(); }
  std::size_t size() const { return owners_.size(); }
  const address_family& family() const { return *options_.family; }

 private:
  using owned = std::map<std::string, std::string>;  // data by service

  std::map<std::string, std::size_t> wanted_chains() const;
  void note_udp(const element_key& slot);

  const table_options options_;
  std::map<std::string, elements> services_;
  std::map<element_key, owned> owners_;
  elements written_;  // as of the last text
  std::set<element_key> changed_;
  std::set<std::string> changed_udp_;
  // As of the last whole text: for how many endpoints each kind of chain was made.
  std::map<std::string, std::size_t> chains_;
};

// Takes the table away, also where there is none.
std::string no_table(const address_family& family = family_v4);

}  // namespace troupe::actors::services
