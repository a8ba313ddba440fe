#include "persistence/tree/state_digest.hpp"

#include <catch2/catch.hpp>

#include "persistence/fixture.hpp"

namespace troupe::persistence::testing {

TEST_CASE("a digest does not depend on the order, and a removal undoes an addition") {
  state_digest one, other;
  one.add("/a", 2, 2);
  one.add("/b", 3, 5);
  other.add("/b", 3, 3);
  other.add("/a", 2, 2);
  CHECK_FALSE(one == other);
  other.remove("/b", 3, 3);
  other.add("/b", 3, 5);
  CHECK(one == other);
  CHECK(one.objects() == 2);
}

TEST_CASE("digests differ for other keys, revisions and key lengths") {
  const auto of = [](std::string_view key, revision created, revision modified) {
    state_digest made;
    made.add(key, created, modified);
    return made;
  };
  const auto one = of("/registry/pods/default/web", 7, 9);
  CHECK_FALSE(one == of("/registry/pods/default/wec", 7, 9));
  CHECK_FALSE(one == of("/registry/pods/default/web", 7, 10));
  CHECK_FALSE(one == of("/registry/pods/default/web", 8, 9));
  CHECK_FALSE(of("/a", 1, 1) == of(std::string_view{"/a\0", 3}, 1, 1));
}

TEST_CASE("a sealed state is read as it was written, and any other text is nothing") {
  sealed_state one{17, 3, {}};
  one.digest.add("/a", 2, 2);
  const auto again = sealed_state::read(one.str());
  REQUIRE(again);
  CHECK(again->at == 17);
  CHECK(again->since == 3);
  CHECK(again->digest == one.digest);
  for (const auto* text : {"", "1", "1 2 3", "1 2 3 4 5", "1 2 3 x", "1  2 3", "-1 2 3 4"})
    CHECK_FALSE(sealed_state::read(text));
}

// The digest is stored on disk: later versions of the program must compute the same.
TEST_CASE("the digest of an object is the same for ever") {
  sealed_state one{9, 0, {}};
  one.digest.add("/registry/pods/default/web", 7, 9);
  CHECK(one.str() == "9 0 1 15327169886389088654");
}

}  // namespace troupe::persistence::testing
