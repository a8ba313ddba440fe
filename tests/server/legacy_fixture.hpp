// Today's API and that of 2014 over one control plane, each on a port of its own.
#pragma once

#include <memory>
#include <string>

#include "server/gate.hpp"
#include "server/legacy/legacy_api.hpp"
#include "server/rest_fixture.hpp"

namespace troupe::server::testing {

inline constexpr const char* pods_of_today = "/api/v1/namespaces/default/pods";
inline constexpr const char* controllers_of_today =
    "/api/v1/namespaces/default/replicationcontrollers";
inline constexpr const char* services_of_today = "/api/v1/namespaces/default/services";

class legacy_test : public rest_test {
 public:
  explicit legacy_test(rest_test_options options = {});
  ~legacy_test();

  test::wire_options old_where() const;
  // `path` follows /api/v1beta1, unless it begins with another one by "//".
  rest_answer old(const std::string& method, const std::string& path, const std::string& body = {});
  // As the client of v0.2 sends it.
  rest_answer old_v02(const std::string& method, const std::string& path,
                      const std::string& body = {});

 private:
  legacy_api api_2014_;
  in_flight room_;
  open_gate door_;
  http_server http_;
  endpoint where_;
};

}  // namespace troupe::server::testing
