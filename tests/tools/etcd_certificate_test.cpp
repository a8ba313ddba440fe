// The warning before the certificate for etcd ends.
#include "tools/node/etcd_certificate.hpp"

#include <catch2/catch.hpp>

#include "server/credentials/x509.hpp"
#include "tools/small_authority.hpp"

namespace troupe::tools {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

TEST_CASE("a certificate for etcd is warned of in the last fifth of its life, and after its end") {
  const test::small_authority from;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto certificate = from.given({now, now + 20h}).certificate;
  CHECK_FALSE(certificate_warning(certificate, "client.crt", now));
  CHECK_FALSE(certificate_warning(certificate, "client.crt", now + 15h));
  const auto late = certificate_warning(certificate, "client.crt", now + 17h);
  REQUIRE(late);
  CHECK_THAT(*late, Contains("from client.crt") && Contains("restart this control plane"));
  CHECK(certificate_warning(certificate, "client.crt", now + 30h));
  CHECK_FALSE(certificate_warning("no certificate", "client.crt", now));
}

}  // namespace troupe::tools
