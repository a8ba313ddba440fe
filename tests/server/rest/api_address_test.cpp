// How programs in the cluster find the API: the objects of default/kubernetes.
#include "server/rest/calls/api_address.hpp"

#include <catch2/catch.hpp>

#include "server/fixtures/rest_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

const std::string endpoints = "/api/v1/namespaces/default/endpoints/kubernetes";
const std::string slice = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";

}  // namespace

TEST_CASE("the API has an EndpointSlice beside its Endpoints, which follows its address") {
  rest_test server;
  REQUIRE(server::publish_api_address(server.plane(), {"192.0.2.7", 6'443}));
  const auto made = server.get(slice);
  REQUIRE(made.status == 200);
  CHECK(made.text().find(R"("kubernetes.io/service-name":"kubernetes")") != std::string::npos);
  CHECK(made.at("addressType") == "IPv4");
  CHECK(made.at("endpoints.0.addresses.0") == "192.0.2.7");
  CHECK(made.at("endpoints.0.conditions.ready") == "true");
  CHECK(made.at("ports.0.name") == "https");
  CHECK(made.at("ports.0.port") == "6443");
  CHECK(server.get(endpoints).text().find("endpointslice.kubernetes.io/skip-mirror") !=
        std::string::npos);

  REQUIRE(server::publish_api_address(server.plane(), {"192.0.2.8", 443}));
  const auto changed = server.get(slice);
  CHECK(changed.at("endpoints.0.addresses.0") == "192.0.2.8");
  CHECK(changed.at("endpoints.1.addresses.0").empty());
  CHECK(changed.at("ports.0.port") == "443");
}

TEST_CASE("an address of this machine alone is no endpoint of the API") {
  rest_test server;
  REQUIRE(server::publish_api_address(server.plane(), {"127.0.0.1", 6'443}));
  CHECK(server.get("/api/v1/namespaces/default/services/kubernetes").status == 200);
  CHECK(server.get(endpoints).status == 404);
  CHECK(server.get(slice).status == 404);
}
