// tools/run --containers as a user types it, on a machine of its own.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "build_paths.hpp"
#include "support/scratch_folder.hpp"
#include "system/network/container_cluster.hpp"

using namespace troupe::test;
using Catch::Matchers::Contains;

namespace {

constexpr std::chrono::seconds ending_limit{60};

}  // namespace

TEST_CASE("tools/run --containers --once runs its web application, and leaves nothing",
          "[network][containers][pod_network]") {
  if (!container_cluster::possible()) return;
  const scratch_folder folder;
  virtual_switch network;
  machine one{network, 1, folder.path()};
  REQUIRE(one.run("ip route add default dev net0").code == 0);
  const auto state = [&] {
    return one
        .run(
            "nft list tables; ip -o link | grep -v '^1:'; ip -o -4 address; ip route; "
            "grep $PWD/data /proc/mounts; true")
        .output;
  };
  const auto before = state();
  const auto ran =
      one.run(fmt::format("{}/tools/run --containers --once --data-dir=data --program={}/troupe",
                          TROUPE_SOURCE_DIR, TROUPE_BINARY_DIR));
  INFO(ran.output);
  CHECK(ran.code == 0);
  // Three tiers answered: the page showed what it had added by one store and read from the other.
  CHECK_THAT(ran.output, Contains("/cgi-bin/guestbook\nhello\n"));
  // The container runtime ends a moment later.
  CHECK(soon(ending_limit, [&] { return one.space().processes().empty() && state() == before; }));
  CHECK(state() == before);
  CHECK(one.space().processes().empty());
}
