// The parser of the kernel's messages about changes of nftables, also with truncated messages.
#include "actors/network/nft/rule_events.hpp"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "actors/network/netlink/netlink.hpp"

namespace troupe::test {

using namespace actors::nft;

namespace {

std::string event(int type, std::uint32_t sender, const std::string& table,
                  std::uint8_t family = NFPROTO_IPV4) {
  actors::netlink::message made{static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | type), 0};
  nfgenmsg body{};
  body.nfgen_family = family;
  made.fixed(body).attribute(1, table + std::string(1, '\0'));
  auto bytes = made.bytes();
  std::memcpy(bytes.data() + offsetof(nlmsghdr, nlmsg_pid), &sender, sizeof sender);
  return bytes;
}

removals read(const std::string& packet) {
  removals out;
  read_removals(packet, out);
  return out;
}

}  // namespace

TEST_CASE("what takes something away from a table is heard with who did it", "[network]") {
  const auto packet =
      event(NFT_MSG_NEWTABLE, 7, "troupe") + event(NFT_MSG_DELRULE, 7, "troupe") +
      event(NFT_MSG_DELSETELEM, 8, "troupe") + event(NFT_MSG_DELCHAIN, 8, "others", NFPROTO_IPV6) +
      event(NFT_MSG_DELTABLE, 9, "bridges", NFPROTO_BRIDGE) + event(NFT_MSG_NEWGEN, 7, "");
  CHECK(read(packet) == removals{{7, "ip troupe"}, {8, "ip troupe"}, {8, "ip6 others"}});
}

TEST_CASE("messages about rules that are cut short are left out", "[network]") {
  const auto whole = event(NFT_MSG_DELTABLE, 7, "troupe");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO(size);
    CHECK(read(whole.substr(0, size)).empty());
  }
  CHECK(read(whole + whole.substr(0, 9)).size() == 1);
}

}  // namespace troupe::test
