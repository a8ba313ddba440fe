// Three control planes of an older program, which are replaced by ours one after another while
// clients write, read and watch, as docs/several-control-planes.md says under "Upgrading".
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "build_paths.hpp"
#include "support/http_client.hpp"
#include "support/skip.hpp"
#include "system/network/joined_cluster.hpp"
#include "system/network/network_space.hpp"
#include "system/planes/final_state.hpp"
#include "system/planes/plane_cluster.hpp"
#include "system/planes/plane_load.hpp"

using namespace troupe::test;

namespace {

// After each replacement this many writes must succeed. The limit bounds only a test that hangs.
constexpr std::size_t writes_between_upgrades = 50;
constexpr std::chrono::milliseconds upgrade_limit{120'000};

bool serves(const machine& plane) {
  try {
    return client_on(plane)->get("/readyz").status == 200;
  } catch (const std::runtime_error&) {
    return false;
  }
}

bool has_leader(const plane_cluster& cluster) {
  return soon(upgrade_limit, [&] { return cluster.leader().has_value(); });
}

// SIGTERM, and a start with this program, which must serve under the load. Throws
// std::runtime_error if it does not start.
void replace_program(plane_cluster& cluster, const plane_load& load, std::size_t index,
                     const std::filesystem::path& program) {
  auto& plane = cluster.plane(index);
  INFO(plane.name() << " with " << program);
  CHECK(plane.end() == 0);
  plane.use(program);
  plane.restart();
  CHECK(std::filesystem::read_symlink(fmt::format("/proc/{}/exe", plane.id())) == program);
  CHECK(soon(upgrade_limit, [&] { return serves(plane); }));
  CHECK(load.goes_on(writes_between_upgrades, upgrade_limit));
  CHECK(has_leader(cluster));
}

// The leading one last.
void upgrade_all(plane_cluster& cluster, const plane_load& load,
                 const std::filesystem::path& program) {
  REQUIRE(has_leader(cluster));
  const auto leader = cluster.leader().value_or(0);
  for (std::size_t i = 1; i <= plane_cluster::size; ++i)
    replace_program(cluster, load, (leader + i) % plane_cluster::size, program);
}

// The older program beside two of ours, and ours again. It may refuse the format in etcd; the two
// others serve meanwhile.
void go_back_and_forth(plane_cluster& cluster, const plane_load& load,
                       const std::filesystem::path& older, const std::filesystem::path& ours) {
  auto& plane = cluster.plane(0);
  try {
    replace_program(cluster, load, 0, older);
    replace_program(cluster, load, 0, ours);
  } catch (const std::runtime_error& refusal) {
    CHECK_THAT(refusal.what(), Catch::Contains("format"));
    std::cout << "planes: the older program does not start again: " << refusal.what() << std::endl;
    CHECK(load.goes_on(writes_between_upgrades, upgrade_limit));
    plane.use(ours);
    plane.restart();
    CHECK(soon(upgrade_limit, [&] { return serves(plane); }));
  }
}

}  // namespace

// TROUPE_PREVIOUS: an older program, with its modules beside it as installed.
TEST_CASE("control planes of an older program are replaced one after another under load",
          "[etcd][network][planes_upgrade]") {
  if (!network_space::possible()) return;
  if (const auto reason = plane_cluster::missing(); !reason.empty()) return skip(reason);
  const char* previous = std::getenv("TROUPE_PREVIOUS");
  if (previous == nullptr) return skip("TROUPE_PREVIOUS does not name an older troupe program");
  const auto older = std::filesystem::canonical(previous);
  const auto ours = std::filesystem::canonical(TROUPE_BINARY_DIR "/troupe");
  REQUIRE(::access(older.c_str(), X_OK) == 0);
  plane_cluster cluster{older};
  plane_load load{cluster, {}};
  REQUIRE(load.goes_on(writes_between_upgrades, upgrade_limit));
  upgrade_all(cluster, load, ours);
  go_back_and_forth(cluster, load, older, ours);
  CHECK(cluster.witness().sees());
  const auto found = collect(cluster, load, true);
  std::cout << fmt::format("planes: upgraded: {} revisions; {}\n", found.history.size(),
                           load.summary())
            << std::flush;
  CHECK(load.problems() == std::vector<std::string>{});
  CHECK(evaluate(found) == std::vector<std::string>{});
}
