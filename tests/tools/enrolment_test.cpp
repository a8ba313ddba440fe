// A machine that joins a server which is busy, or sends an unsuitable response.
#include "tools/join/enrolment.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "support/scratch_folder.hpp"
#include "tools/join/defaults.hpp"
#include "tools/small_authority.hpp"

namespace troupe::tools {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using test::must;
using test::small_authority;
namespace x509 = server::x509;

namespace {

const auto fresh = small_authority::around_now(1h, 20h);

struct joining {
  tl::expected<joined_credentials, std::string> enrol() {
    const join_line line{from.address(), "abc123.0123456789abcdef", from.hash()};
    return tools::enrol(line, "n0", folder);
  }
  bool has_joined() const { return std::filesystem::exists(folder.path() / "cluster.json"); }

  small_authority from;
  troupe::test::scratch_folder data;
  join_folder folder{data.path()};
};

}  // namespace

TEST_CASE("a server that is busy is asked again for as long as there is time") {
  joining t;
  t.from.will_give({std::nullopt, std::nullopt, fresh});
  const auto joined = must(t.enrol());
  CHECK(t.from.asked_at().size() == 3);
  CHECK(x509::belongs({joined.certificate, joined.private_key}, joined.authority));
  CHECK(joined.node_name == "n0");
  CHECK(joined.link_address == "elsewhere:1");
  CHECK(joined.api_address == t.from.address());
  CHECK(t.folder.load().value()->certificate == joined.certificate);
}

TEST_CASE("a server that stays busy is given up in time, with its message") {
  joining t;
  t.from.will_give({std::nullopt});
  const auto begin = std::chrono::steady_clock::now();
  const auto refused = t.enrol();
  CHECK(std::chrono::steady_clock::now() - begin < join_defaults::total_limit);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error(), Contains("busy"));
  CHECK(t.from.asked_at().size() > 1);
  CHECK_FALSE(t.has_joined());
}

TEST_CASE(
    "a certificate that is not for this machine's key, or of another authority, is not kept") {
  joining t;
  t.from.will_give({fresh});
  SECTION("for another key") {
    t.from.spoil = [&](auto& said, const auto&) {
      said["certificate"] = t.from.given(fresh).certificate;
    };
    CHECK_THAT(t.enrol().error(), Contains("the server's response is invalid"));
  }
  SECTION("of another authority, which it names as its own") {
    t.from.spoil = [](auto& said, const std::string& public_key) {
      const auto other = x509::make_authority("b", fresh).value();
      const x509::leaf wanted{"system:node:n0", {"system:nodes"}, {}, fresh};
      said["certificate"] = x509::certify(other, wanted, public_key).value();
      said["certificateAuthority"] = other.certificate;
    };
    CHECK_THAT(t.enrol().error(), Contains("its response contains another authority"));
  }
  SECTION("without a cluster, or a place to call") {
    const auto* missing = GENERATE("clusterId", "linkAddress");
    t.from.spoil = [&](auto& said, const auto&) { said[missing] = ""; };
    CHECK_THAT(t.enrol().error(), Contains("the server's response is invalid"));
  }
  CHECK_FALSE(t.has_joined());
  // The key was made before the first request, and is kept for the next attempt.
  CHECK(std::filesystem::exists(t.folder.path() / "node.key"));
}

}  // namespace troupe::tools
