// pods/resize as seen by clients.
#include <catch2/catch.hpp>

#include "server/fixtures/rest_fixture.hpp"

namespace troupe::server::testing {

namespace {

const std::string base = "/api/v1/namespaces/default/";

// 100m and 64 MiB, within 400m and 128 MiB.
void create_sized_pod(rest_test& server, const std::string& name) {
  const auto made = server.post(
      base + "pods", R"({"metadata":{"name":")" + name +
                         R"("},"spec":{"containers":[{"name":"c","image":"i","resources":{
             "requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"400m","memory":"128Mi"}}}]}})");
  REQUIRE(made.status == 201);
}

rest_answer request_cpu(rest_test& server, const std::string& path, const std::string& cpu) {
  return server.patch(base + "pods/" + path, "strategic",
                      R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":")" +
                          cpu + R"("}}}]}})");
}

}  // namespace

TEST_CASE("the resources of a pod change by its subresource resize alone", "[rest]") {
  rest_test server;
  create_sized_pod(server, "a");
  const auto plain = request_cpu(server, "a", "200m");
  CHECK(plain.status == 422);
  const auto resized = request_cpu(server, "a/resize", "200m");
  INFO(resized.text());
  CHECK(resized.status == 200);
  CHECK(resized.at("metadata.generation") == "2");
  const auto read = server.get(base + "pods/a/resize");
  CHECK(read.at("kind") == "Pod");
  CHECK(read.at("spec.containers.0.resources.requests.cpu") == "200m");
  auto text = read.text();
  text.replace(text.find("200m"), 4, "250m");
  CHECK(server.put(base + "pods/a/resize", text).status == 200);
  CHECK(server.get(base + "pods/a").at("spec.containers.0.resources.requests.cpu") == "250m");
  CHECK(request_cpu(server, "none/resize", "1").status == 404);
}

TEST_CASE("a resize is charged to quotas and held to limit ranges", "[rest]") {
  rest_test server;
  create_sized_pod(server, "a");
  REQUIRE(server
              .post(base + "resourcequotas",
                    R"({"metadata":{"name":"q"},"spec":{"hard":{"requests.cpu":"300m"}}})")
              .status == 201);
  const auto over = request_cpu(server, "a/resize", "350m");
  CHECK(over.status == 403);
  CHECK_THAT(over.at("message"), Catch::Contains("exceeded quota: q, requested: requests.cpu=250m, "
                                                 "used: requests.cpu=100m"));
  CHECK(request_cpu(server, "a/resize", "300m").status == 200);
  REQUIRE(server
              .post(base + "limitranges",
                    R"({"metadata":{"name":"l"},"spec":{"limits":[
                        {"type":"Container","min":{"cpu":"80m"}}]}})")
              .status == 201);
  const auto under = request_cpu(server, "a/resize", "50m");
  CHECK(under.status == 403);
  CHECK_THAT(under.at("message"),
             Catch::Contains("minimum cpu usage per Container is 80m, but request is 50m"));
  CHECK(request_cpu(server, "a/resize", "80m").status == 200);
}

}  // namespace troupe::server::testing
