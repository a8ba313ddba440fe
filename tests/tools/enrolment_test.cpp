// A machine that joins a server which is busy, or sends an unsuitable response.
#include "tools/join/enrolment.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "actors/api_servers/api_server_record.hpp"
#include "server/join/flat_json.hpp"
#include "support/scratch_folder.hpp"
#include "tools/join/control_plane_join.hpp"
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
  using clock = std::chrono::steady_clock;
  joining easy, t;
  easy.from.will_give({fresh});
  t.from.will_give({std::nullopt});
  auto begin = clock::now();
  must(easy.enrol());
  const auto easily = clock::now() - begin;
  begin = clock::now();
  const auto refused = t.enrol();
  // Its last request may end late on a busy machine.
  CHECK(clock::now() - begin < join_defaults::total_limit + 10 * easily);
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

TEST_CASE("a certificate is renewed by another control plane if the first one is busy") {
  small_authority first, second{&first};
  first.will_give({std::nullopt});
  second.will_give({fresh});
  auto held = first.given(small_authority::around_now(20h, 4h));
  held.control_planes = actors::write_api_servers(
      {{.name = "second", .api = second.address(), .link = "", .key_hash = "sha256:00"}});
  const auto renewed = must(renew(held));
  CHECK(renewed.certificate != held.certificate);
  CHECK(renewed.api_address == held.api_address);
  CHECK(first.asked_at().size() == 1);
  CHECK(second.asked_at().size() == 1);
  // If all are busy, the last one is named.
  second.will_give({std::nullopt});
  const auto refused = renew(held);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error(), Contains(second.address()) && Contains("busy"));
}

TEST_CASE("a control plane that is told new addresses of etcd keeps its credentials for it") {
  const troupe::test::scratch_folder data;
  for (const auto* each : {"pki", "etcd"})
    std::filesystem::create_directory(data.path() / each);
  for (const auto* each : {"pki/ca.crt", "etcd/ca.crt", "etcd/client.crt", "etcd/client.key"})
    data.write(each, "text");
  data.write("control-plane.json",
             server::write_flat_json({{"etcdEndpoints", "https://old:2379"}}));
  config::node_config same;
  same.data_dir = data.path();
  REQUIRE(join_as_control_plane(same, {}));
  CHECK(same.etcd.endpoints == std::vector<std::string>{"https://old:2379"});
  CHECK(same.etcd.key == data.path() / "etcd/client.key");

  config::node_config moved;
  moved.data_dir = data.path();
  moved.etcd.endpoints = {"https://new:2379"};
  REQUIRE(join_as_control_plane(moved, {}));
  CHECK(moved.etcd.endpoints == std::vector<std::string>{"https://new:2379"});
  CHECK(moved.etcd.ca == data.path() / "etcd/ca.crt");
  CHECK(moved.etcd.cert == data.path() / "etcd/client.crt");

  config::node_config given;
  given.data_dir = data.path();
  given.etcd.ca = "other.crt";
  REQUIRE(join_as_control_plane(given, {}));
  CHECK(given.etcd.ca == "other.crt");
  CHECK(given.etcd.cert.empty());
}

}  // namespace troupe::tools
