// HTTP to pods and services by the paths of 2014.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "server/fixtures/http_backend.hpp"
#include "server/fixtures/legacy_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Contains;

TEST_CASE("a pod and a service are reached by the proxy paths of v1beta1") {
  const auto backend = std::make_shared<http_backend>();
  legacy_test api{{.rest = {.streams = backend}}};
  api.create_pod("web");
  const std::string pod = std::string{pods_of_today} + "/web";
  REQUIRE(api.post(pod + "/binding", R"({"target":{"kind":"Node","name":"n1"}})").status == 201);
  CHECK(api.old("GET", "/proxy/pods/web:8080/a%20b//c?x=1").text() == "ok");
  CHECK(backend->port() == 8080);
  CHECK_THAT(backend->received(), Catch::StartsWith("GET /a%20b//c?x=1 HTTP/1.1\r\n"));
  CHECK_THAT(backend->received(),
             Contains("x-forwarded-uri: /api/v1beta1/proxy/pods/web:8080/a%20b//c\r\n"));
  CHECK(api.old("POST", "/proxy/pods/web?namespace=default", "{}").text() == "ok");
  CHECK(backend->port() == 80);
  CHECK_THAT(backend->received(), Contains("POST /?namespace=default HTTP/1.1\r\n"));
  api.post(services_of_today, R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}})");
  api.post("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
           fmt::format(
               R"({{"metadata":{{"name":"s-1","labels":{{"kubernetes.io/service-name":"s"}}}},
          "addressType":"IPv4","ports":[{{"name":"","port":9000,"protocol":"TCP"}}],"endpoints":[
          {{"addresses":["10.0.0.7"],"targetRef":{{"kind":"Pod","name":"web",
          "namespace":"default","uid":"{}"}}}}]}})",
               api.get(pod).at("metadata.uid")));
  CHECK(api.old("GET", "/proxy/services/s/in").text() == "ok");
  CHECK(backend->port() == 9000);
  CHECK(api.old("GET", "/proxy/pods/none/").status == 404);
  CHECK(api.old("GET", "/proxy/pods/web/?namespace=other").status == 404);
  CHECK(api.old("GET", "/proxy/pods/web/?namespace=default%2Fpods").status == 404);
  CHECK(api.old("GET", "/proxy/replicationControllers/web/").status == 404);
}
