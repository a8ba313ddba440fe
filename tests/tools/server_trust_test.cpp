// Whether a server is the one that a join command names, by its certificates.
#include "tools/join/server_trust.hpp"

#include <catch2/catch.hpp>

#include "server/credentials/x509.hpp"
#include "tools/joined_plane.hpp"

namespace troupe::tools {

using namespace std::chrono_literals;
using test::must;
namespace x509 = server::x509;

namespace {

x509::validity valid_between(std::chrono::hours from, std::chrono::hours until) {
  const auto now = std::chrono::system_clock::now();
  return {now + from, now + until};
}

struct cluster {
  x509::identity authority = must(x509::make_authority("a", valid_between(-24h, 24h)));
  std::string hash = must(x509::key_hash(authority.certificate));

  std::string server(x509::validity valid = valid_between(-1h, 1h)) const {
    return must(x509::issue(authority, {"s", {}, {"127.0.0.1", "node.example"}, valid}))
        .certificate;
  }
};

}  // namespace

TEST_CASE("a server that shows the authority of the hash, and is signed by it, is trusted") {
  const cluster mine;
  for (const auto* host : {"127.0.0.1", "node.example"}) {
    const auto trusted = check_server({mine.server(), mine.authority.certificate}, mine.hash, host);
    REQUIRE(trusted);
    CHECK(trusted->authority == mine.authority.certificate);
  }
  // A wrong clock is a separate check.
  for (const auto& valid : {valid_between(-3h, -2h), valid_between(2h, 3h)})
    CHECK(check_server({mine.server(valid), mine.authority.certificate}, mine.hash, "127.0.0.1"));
}

TEST_CASE("a server other than that of the join line is refused with the difference") {
  const cluster mine, other;
  const auto refused = [&](const std::vector<std::string>& chain, const std::string& host) {
    const auto got = check_server(chain, mine.hash, host);
    REQUIRE_FALSE(got);
    return got.error();
  };
  const auto& authority = mine.authority.certificate;
  CHECK(refused({}, "127.0.0.1") == trust_error::no_certificate);
  CHECK(refused({"no certificate"}, "127.0.0.1") == trust_error::no_certificate);
  CHECK(refused({mine.server()}, "127.0.0.1") == trust_error::other_authority);
  CHECK(refused({other.server(), other.authority.certificate}, "127.0.0.1") ==
        trust_error::other_authority);
  // The authority signs servers, but is not one.
  CHECK(refused({authority}, "127.0.0.1") == trust_error::other_authority);
  CHECK(refused({other.server(), authority}, "127.0.0.1") == trust_error::not_signed);
  CHECK(refused({mine.server(), authority}, "127.0.0.2") == trust_error::other_name);
  // A node of the cluster is not a server of it.
  const auto key = must(x509::make_key());
  const auto csr = must(x509::read_request(must(x509::make_request(key, "n"))));
  const auto node = must(x509::certify(
      mine.authority, {"system:node:n0", {"system:nodes"}, {}, valid_between(-1h, 1h)},
      csr.public_key));
  CHECK(refused({node, authority}, "127.0.0.1") == trust_error::not_signed);
}

}  // namespace troupe::tools
