// Only a client of etcd of the same build is loaded.
#include <catch2/catch.hpp>

#include "persistence/etcd/module.hpp"

namespace troupe::persistence::testing {

using Catch::Matchers::Contains;

TEST_CASE("a client of etcd of another build is refused with both interfaces", "[module]") {
  const auto own = etcd_interface();
  CHECK(check_etcd_interface("etcd.so", own.c_str()));
  const auto other = check_etcd_interface("etcd.so", "0.0.1-0123456789ab");
  REQUIRE_FALSE(other);
  CHECK(other.error().code == errc::io);
  CHECK_THAT(other.error().message, Contains("etcd.so has the interface 0.0.1-0123456789ab") &&
                                        Contains("needs the interface " + own));
}

TEST_CASE("a file that is no client of etcd is not used", "[module]") {
  const auto other = load_etcd_module("libm.so.6");
  REQUIRE_FALSE(other);
  CHECK_THAT(other.error().message, Contains("libm.so.6 has no interface for etcd"));
  CHECK_THAT(load_etcd_module("/nowhere/etcd.so").error().message, Contains("cannot be loaded"));
}

}  // namespace troupe::persistence::testing
