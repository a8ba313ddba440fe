// Which control plane a machine calls over which link.
#include "tools/links/server_choice.hpp"

#include <catch2/catch.hpp>

using namespace troupe;
using namespace troupe::tools;
using runtime::link::address;

namespace {

const address joined{"api.example", 6444};
const actors::api_server_records two{{"a", "10.0.0.1:6443", "10.0.0.1:6444", "sha256:a"},
                                     {"b", "10.0.0.2:6443", "10.0.0.2:6444", "sha256:b"}};

}  // namespace

TEST_CASE("the first link may go to any control plane, by its own address or the one joined by") {
  server_choice choice{joined};
  CHECK(choice.first_addresses() == server_choice::addresses{joined});
  choice.learn(two);
  CHECK(choice.first_addresses() ==
        server_choice::addresses{joined, {"10.0.0.1", 6444}, {"10.0.0.2", 6444}});
}

TEST_CASE("no other link uses an address of the first one, by any name, or one it may use next") {
  server_choice choice{joined};
  choice.learn(two);
  CHECK(choice.addresses_of("a").empty());
  choice.first_addresses();
  choice.linked("sha256:a");
  CHECK(choice.addresses_of("a").empty());
  CHECK(choice.addresses_of("b") == server_choice::addresses{{"10.0.0.2", 6444}});
  choice.first_addresses();
  CHECK(choice.addresses_of("b").empty());
  choice.linked("sha256:b");
  CHECK(choice.addresses_of("a") == server_choice::addresses{{"10.0.0.1", 6444}});
  CHECK(choice.addresses_of("b").empty());
}

TEST_CASE("a control plane that is not known any more is not called") {
  server_choice choice{joined};
  choice.learn(two);
  choice.linked("sha256:a");
  choice.learn({two[0]});
  CHECK(choice.addresses_of("b").empty());
  CHECK(choice.first_addresses() == server_choice::addresses{joined, {"10.0.0.1", 6444}});
}

TEST_CASE("a control plane without a link or an address is not called") {
  server_choice choice{std::nullopt};
  choice.learn(
      {{"a", "10.0.0.1:6443", "", "sha256:a"}, {"b", "10.0.0.2:6443", "what", "sha256:b"}});
  CHECK(choice.addresses_of("a").empty());
  CHECK(choice.addresses_of("b").empty());
}

TEST_CASE("a control plane, which has no first link, has one to each other") {
  server_choice choice{std::nullopt};
  choice.learn(two);
  CHECK(choice.addresses_of("a").size() == 1);
  CHECK(choice.addresses_of("b").size() == 1);
}
