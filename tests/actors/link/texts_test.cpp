// Texts of containers go over the link as they are: not all of them are UTF-8.
#include <algorithm>
#include <catch2/catch.hpp>

#include "actors/link/frames.hpp"
#include "actors/link/joined.hpp"
#include "actors/link/node_links.hpp"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_pod.pb.h"
#include "support/nodes.hpp"

namespace troupe::test {

using api::core::v1::Event;
using api::core::v1::Pod;

TEST_CASE("a probe whose output is no text is an event, and costs its node no link", "[link]") {
  joined_cluster world{1};
  auto& plane = world.plane();
  world.add("n0");
  world.start("n0");
  REQUIRE(world.connect("n0"));
  const auto pod = plane.create(pod_named("web", "n0"));
  plane.settle();
  // The second ends within a character, as a text does that was cut at its limit.
  for (const std::string output : {"\xff\xfe\n", "gr\xc3"}) {
    world.doors_of("n0").recorder.tell(
        actors::record_event{.about = pod,
                             .warning = true,
                             .reason = "Unhealthy",
                             .message = "Readiness probe failed: " + output,
                             .component = "kubelet"});
    plane.settle();
    CHECK(world.ended("n0") == "");
    CHECK(plane.plane().links().table().connected("n0"));
    const auto events = plane.list<Event>();
    CHECK(std::any_of(events.begin(), events.end(), [&](const auto& each) {
      return each->template as<Event>().message() == "Readiness probe failed: " + output;
    }));
  }
}

}  // namespace troupe::test
