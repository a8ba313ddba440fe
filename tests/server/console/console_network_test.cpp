// The console's view of the path to a service.
#include <catch2/catch.hpp>

#include "server/fixtures/console_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Matchers::Contains;

TEST_CASE("network shows the path to a service, and where it ends") {
  console_test t;
  t.create_controller("web", 1);
  REQUIRE(t.post("/api/v1/namespaces/default/services",
                 R"({"metadata":{"name":"web"},"spec":{"selector":{"app":"web"},)"
                 R"("ports":[{"port":80}]}})")
              .status == 201);
  const auto shown = t.show("network?to=services/default/web");
  REQUIRE(shown.status == 200);
  CHECK_THAT(shown.text(), Contains("is bound to no node yet"));
  CHECK_THAT(shown.text(), Contains("port 80/TCP: no endpoint is ready: refused"));
  CHECK_THAT(shown.text(), Contains("a connection does not reach default/web"));
  const auto pod = t.first_pod();
  const auto from = t.show("network?to=services/default/web&port=81&from=pods/default/" + pod);
  CHECK_THAT(from.text(), Contains("81/TCP is none of its ports (80/TCP): refused"));
  INFO("the connections of another node are counted there");
  CHECK_THAT(from.text(), !Contains("counted on node"));
  REQUIRE(t.post("/api/v1/namespaces/default/pods/" + pod + "/binding",
                 R"({"target":{"kind":"Node","name":"far"}})")
              .status == 201);
  const auto far = t.show("network?to=services/default/web&from=pods/default/" + pod);
  CHECK_THAT(far.text(),
             Contains("connections are counted on node far: not known on this machine"));
  CHECK(t.show("network?to=services/default/none").status == 404);
  CHECK(t.show("network?to=nodes/n1").status == 400);
  CHECK(t.show("network?to=services/default/web&protocol=ICMP").status == 400);
  CHECK(t.show("network?to=services/default/web&from=services/default/web").status == 400);
}
