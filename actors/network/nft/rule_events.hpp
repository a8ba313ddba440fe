// Parser for the kernel's messages about changes of nftables (multicast group NFNLGRP_NFTABLES):
// finds the removals, the table that each one concerns, and the process that made it. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace troupe::actors::nft {

struct removal {
  std::uint32_t sender = 0;  // netlink port of the sender; for nft, its process id
  std::string table;         // "ip troupe"

  friend auto operator<=>(const removal&, const removal&) = default;
};
using removals = std::set<removal>;

// Adds the removals of tables, chains, rules, sets and elements in a packet of messages to `to`.
// Ignores other messages, tables of families other than ip and ip6, and truncated messages.
void read_removals(std::string_view packet, removals& to);

}  // namespace troupe::actors::nft
