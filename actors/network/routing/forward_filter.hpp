// Finds rules of other programs that drop the packets of pods: a chain at the hook forward with the
// policy drop, such as FORWARD of iptables where Docker runs. Each chain at the hook must accept a
// packet: an accept in our tables does not help, only one in that chain.
//
// Rules are read from nft's text, roughly: the order of rules and everything but devices and
// addresses is ignored. Chains of iptables-legacy are not visible to nft.
#pragma once

#include <string>
#include <vector>

#include "api/values/cidr.hpp"

namespace troupe::actors::routing {

struct forward_chain {
  std::string family, table, name;  // "ip", "filter", "FORWARD"

  bool operator==(const forward_chain&) const = default;
};

// The chains of other programs that drop by policy, in the text of `nft list chains`. Pure.
std::vector<forward_chain> dropping_chains(const std::string& chains);

// Whether the chain accepts packets of these pods, by the text of `nft list table`: it has an
// accept without conditions, or for addresses that contain theirs, or for their devices; or such a
// jump to a chain that has one. Pure.
bool accepts_pods(const std::string& table, const std::string& chain, const api::cidr& pods);

// Asks nft. For each chain that drops packets of pods a problem, with the commands that solve it.
// `own`: the ranges of this node, `cluster`: those of all pods. Blocks: for a worker thread.
std::vector<std::string> find_dropping_chains(const std::vector<api::cidr>& own,
                                              const std::vector<api::cidr>& cluster);

}  // namespace troupe::actors::routing
