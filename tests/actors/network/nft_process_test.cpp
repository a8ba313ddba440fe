// The check for rules of IPv6, with scripts in place of nft.
#include "actors/network/services/nft_process.hpp"

#include <catch2/catch.hpp>

#include "support/scratch_folder.hpp"

namespace troupe::test {

using actors::services::missing_for_ipv6;

namespace {

// Reads a script as nft does, and ends with this command.
std::vector<std::string> fake_nft(const std::string& end) {
  return {"/bin/sh", "-c", "read script; " + end, "nft"};
}

}  // namespace

TEST_CASE("rules for IPv6 are left out if the kernel has no IPv6 or nft is refused", "[services]") {
  const scratch_folder folder;
  const auto absent = (folder.path() / "if_inet6").string();
  const std::string present = "/proc/self/status";
  CHECK(missing_for_ipv6(fake_nft("true"), absent) == "the kernel has no IPv6");
  CHECK(missing_for_ipv6(fake_nft("true"), present).empty());
  CHECK(missing_for_ipv6(fake_nft("echo 'Error: Operation not supported'; exit 1"), present) ==
        "nft: Error: Operation not supported");
  INFO("nft only checks a script that adds the table");
  CHECK(missing_for_ipv6(
            fake_nft(R"([ "$*" = "--check -f -" ] && [ "$script" = "add table ip6 troupe" ])"),
            present)
            .empty());
}

}  // namespace troupe::test
