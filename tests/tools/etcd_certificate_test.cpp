// The warning before the certificate for etcd ends.
#include "tools/node/etcd_certificate.hpp"

#include <catch2/catch.hpp>

#include "server/credentials/x509.hpp"
#include "support/captured_log.hpp"
#include "support/scratch_folder.hpp"
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
  CHECK_THAT(*late, Contains("in client.crt") && Contains("replace it"));
  CHECK(certificate_warning(certificate, "client.crt", now + 30h));
  CHECK_FALSE(certificate_warning("no certificate", "client.crt", now));
}

TEST_CASE("a certificate for etcd that was replaced is not warned of any more") {
  const test::small_authority from;
  const auto issued = [&](std::chrono::minutes left) {
    return from.given(test::small_authority::around_now(10h, left)).certificate;
  };
  troupe::test::captured_log log;
  const troupe::test::scratch_folder place;
  const auto file = place.write("client.crt", issued(1h));
  warn_of_certificate_end(file);
  CHECK_THAT(log.take(), Contains(file.string() + " is valid until"));
  place.write("client.crt", issued(10h));
  warn_of_certificate_end(file);
  warn_of_certificate_end(place.path() / "absent.crt");
  warn_of_certificate_end({});
  CHECK(log.take().empty());
}

}  // namespace troupe::tools
