#include "server/legacy_fixture.hpp"

#include <catch2/catch.hpp>

namespace troupe::server::testing {

legacy_test::legacy_test(rest_test_options options)
    : rest_test{std::move(options)},
      api_2014_{api().services()},
      room_{100, 100},
      door_{room_, api_2014_, {"test"}},
      http_{http_options{}} {
  const auto bound = http_.listen({"127.0.0.1", 0}, door_);
  REQUIRE(bound.has_value());
  where_ = *bound;
}

legacy_test::~legacy_test() {
  http_.stop();
}

test::wire_options legacy_test::old_where() const {
  test::wire_options out;
  out.port = where_.port;
  out.tls = false;
  return out;
}

rest_answer legacy_test::old(const std::string& method, const std::string& path,
                             const std::string& body) {
  test::http_client client{old_where()};
  return client.request(method, path.starts_with("//") ? path.substr(1) : "/api/v1beta1" + path,
                        body);
}

rest_answer legacy_test::old_v02(const std::string& method, const std::string& path,
                                 const std::string& body) {
  return old(method, path + "?", body);
}

}  // namespace troupe::server::testing
