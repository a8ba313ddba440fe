// What the kernel tells about changes of nftables (the multicast group NFNLGRP_NFTABLES): which of
// them take something away, of which table, and who made them. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace troupe::actors::nft {

struct removal {
  std::uint32_t sender = 0;  // the socket that it came by: of nft its process id
  std::string table;         // "ip troupe"

  friend auto operator<=>(const removal&, const removal&) = default;
};
using removals = std::set<removal>;

// Adds what a packet of messages tells of the removal of tables, chains, rules, sets and elements.
// The rest, and what is cut off, is left out.
void read_removals(std::string_view packet, removals& to);

}  // namespace troupe::actors::nft
