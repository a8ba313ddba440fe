// A joined node's certificate is renewed in time, and never in a tight loop.
#include "tools/join/credential_manager.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "server/credentials/x509.hpp"
#include "support/scratch_folder.hpp"
#include "tools/join/defaults.hpp"
#include "tools/joined_plane.hpp"
#include "tools/small_authority.hpp"

namespace troupe::tools {

using namespace std::chrono_literals;
using test::eventually;
using test::small_authority;
namespace x509 = server::x509;

namespace {

// Two thirds of its life have passed.
x509::validity aged() {
  return small_authority::around_now(20h, 4h);
}

}  // namespace

TEST_CASE(
    "a certificate is renewed when a third of its life is left, some nodes' a little before") {
  const small_authority from;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto certificate = from.given({now, now + 30h}).certificate;
  CHECK(until_renewal(certificate, 0, now) == 20h);
  CHECK(until_renewal(certificate, 1, now) == 19h);
  CHECK(until_renewal(certificate, 0, now + 19h) == 1h);
  CHECK(until_renewal(certificate, 0, now + 20h) == 0ms);
  CHECK(until_renewal(certificate, 0, now + 31h) == 0ms);
  CHECK(until_renewal("no certificate", 0, now) == 0ms);
}

TEST_CASE("a credential manager renews old certificates, keeps new ones, and limits its rate") {
  small_authority from;
  const auto fresh = small_authority::around_now(1h, 23h);
  from.will_give({std::nullopt, aged(), fresh});
  const troupe::test::scratch_folder data;
  const join_folder folder{data.path()};
  const auto first = from.given(aged());
  REQUIRE(folder.save(first));
  {
    const credential_manager manager{folder, first};
    REQUIRE(eventually([&] {
      return until_renewal(manager.now().certificate, 1, std::chrono::system_clock::now()) > 0ms;
    }));
    const auto asked = from.asked_at();
    REQUIRE(asked.size() == 3);
    // After a refusal; longer after a new certificate that is already due: the clock may be wrong.
    CHECK(asked[1] - asked[0] >= join_defaults::renew_retry_first);
    CHECK(asked[2] - asked[1] >= 2 * join_defaults::renew_retry_first);
    const auto held = manager.now();
    CHECK(held.certificate != first.certificate);
    CHECK(held.private_key == first.private_key);
    // The address was fixed when it joined.
    CHECK(held.link_address == first.link_address);
    CHECK(held.api_address == first.api_address);
    CHECK(folder.load().value()->certificate == held.certificate);
  }
  CHECK(from.asked_at().size() == 3);
}

TEST_CASE("a list of control planes that could not be stored is stored later") {
  small_authority from;
  from.will_give({std::nullopt});
  const troupe::test::scratch_folder data;
  const join_folder folder{data.path()};
  const auto first = from.given(aged());
  REQUIRE(folder.save(first));
  // Its temporary file cannot be made.
  const auto obstacle = folder.path() / "cluster.json.new";
  std::filesystem::create_directory(obstacle);
  credential_manager manager{folder, first};
  manager.learn("a/10.0.0.1:6443//sha256:00");
  // A try to renew comes after the try to store.
  REQUIRE(eventually([&] { return from.asked_at().size() >= 2; }));
  CHECK(folder.load().value()->control_planes.empty());
  std::filesystem::remove(obstacle);
  CHECK(eventually(
      [&] { return folder.load().value()->control_planes == "a/10.0.0.1:6443//sha256:00"; }));
}

TEST_CASE("a credential manager ends at once, even while it waits") {
  small_authority from;
  from.will_give({std::nullopt});
  const troupe::test::scratch_folder data;
  auto begin = std::chrono::steady_clock::now();
  { const credential_manager calm{join_folder{data.path()}, from.given(from.around_now(1h, 23h))}; }
  CHECK(std::chrono::steady_clock::now() - begin < join_defaults::clock_check_period);
  CHECK(from.asked_at().empty());
  {
    const credential_manager refused{join_folder{data.path()}, from.given(aged())};
    REQUIRE(eventually([&] { return from.asked_at().size() == 3; }));
    begin = std::chrono::steady_clock::now();
  }
  // After the third refusal it waits longer than after the first one.
  CHECK(std::chrono::steady_clock::now() - begin < 4 * join_defaults::renew_retry_first);
}

}  // namespace troupe::tools
