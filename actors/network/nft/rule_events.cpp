#include "actors/network/nft/rule_events.hpp"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <algorithm>

#include "actors/network/netlink/netlink.hpp"

namespace troupe::actors::nft {
namespace {

// The table's name has the same attribute type in all kinds of messages.
static_assert(NFTA_TABLE_NAME == 1 && NFTA_CHAIN_TABLE == 1 && NFTA_RULE_TABLE == 1 &&
              NFTA_SET_TABLE == 1 && NFTA_SET_ELEM_LIST_TABLE == 1);

bool removes(std::uint16_t type) {
  if (type >> 8 != NFNL_SUBSYS_NFTABLES) return false;
  switch (type & 0xff) {
    case NFT_MSG_DELTABLE:
    case NFT_MSG_DELCHAIN:
    case NFT_MSG_DELRULE:
    case NFT_MSG_DELSET:
    case NFT_MSG_DELSETELEM:
      return true;
    default:
      return false;
  }
}

std::string_view family_name(std::uint8_t family) {
  switch (family) {
    case NFPROTO_IPV4:
      return "ip ";
    case NFPROTO_IPV6:
      return "ip6 ";
    default:
      return {};
  }
}

}  // namespace

void read_removals(std::string_view packet, removals& to) {
  while (packet.size() >= sizeof(nlmsghdr)) {
    const auto head = netlink::fixed_of<nlmsghdr>(packet);
    if (head.nlmsg_len < sizeof head || head.nlmsg_len > packet.size()) return;
    const auto body = packet.substr(NLMSG_HDRLEN, head.nlmsg_len - NLMSG_HDRLEN);
    packet.remove_prefix(std::min<std::size_t>(NLMSG_ALIGN(head.nlmsg_len), packet.size()));
    const auto family = family_name(netlink::fixed_of<nfgenmsg>(body).nfgen_family);
    if (!removes(head.nlmsg_type) || family.empty()) continue;
    const auto attributes = netlink::attributes_of<nfgenmsg>(body);
    const auto table = attributes.find(NFTA_TABLE_NAME);
    if (table == attributes.end()) continue;
    const auto name = table->second.substr(0, table->second.find('\0'));
    to.insert({head.nlmsg_pid, std::string{family}.append(name)});
  }
}

}  // namespace troupe::actors::nft
