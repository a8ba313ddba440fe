// Only a module of the same build is loaded.
#include "runtime/link/module.hpp"

#include <catch2/catch.hpp>

namespace troupe::runtime::link::testing {

using Catch::Matchers::Contains;

TEST_CASE("a link module of another build is refused with both interfaces") {
  const auto own = link_interface();
  CHECK(check_link_interface("link.so", own.c_str()));
  const auto other = check_link_interface("link.so", "0.0.1-0123456789ab");
  REQUIRE_FALSE(other);
  CHECK_THAT(other.error(), Contains("link.so has the interface 0.0.1-0123456789ab") &&
                                Contains("needs the interface " + own));
}

TEST_CASE("a file that is no link module is not used") {
  const auto other = load_transport("libm.so.6");
  REQUIRE_FALSE(other);
  CHECK_THAT(other.error(), Contains("libm.so.6 has no interface for links"));
  CHECK_THAT(load_transport("/nowhere/link.so").error(), Contains("cannot be loaded"));
}

}  // namespace troupe::runtime::link::testing
