// Texts of containers pass the link unchanged: not all of them are UTF-8.
#include <algorithm>
#include <catch2/catch.hpp>

#include "actors/link/frames.hpp"
#include "actors/link/joined.hpp"
#include "actors/link/node_links.hpp"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_pod.pb.h"
#include "support/link/loopback.hpp"
#include "support/nodes.hpp"

namespace troupe::test {

using api::core::v1::Event;
using api::core::v1::Pod;

TEST_CASE("probe output that is not text becomes an event, and its node keeps the link", "[link]") {
  joined_cluster world{1};
  auto& plane = world.plane();
  world.add("n0");
  world.start("n0");
  REQUIRE(world.connect("n0"));
  const auto pod = plane.create(pod_named("web", "n0"));
  plane.settle();
  // The second one ends within a character, like a text cut at its limit.
  for (const auto& [output, shown] :
       {std::pair<std::string, std::string>{"\xff\xfe\n", "\uFFFD\uFFFD\n"},
        {"gr\xc3", "gr\uFFFD"}}) {
    world.core_actors_of("n0").recorder.tell(
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
      return each->template as<Event>().message() == "Readiness probe failed: " + shown;
    }));
  }
}

namespace {

class ear final : public runtime::link::receiver {
 public:
  void received(runtime::link::delivery) override {}
  void ended(const std::string& reason) override { end = reason; }
  std::string end;
};

}  // namespace

// The control plane keeps a node's subscriptions until it knows the node's pods.
TEST_CASE("a node that asks for a key of a megabyte loses its session", "[link]") {
  joined_cluster world{1};
  auto& plane = world.plane();
  world.add("n0");
  for (const std::size_t size : {300, 1'000'000}) {
    const auto node = std::make_shared<ear>();
    auto line = make_loopback(
        peer_of("n0"), [node](const auto&) { return node; }, {"plane", {}, {}, {}},
        plane.plane().links().acceptor());
    actors::wire::FromNode frame;
    auto& subscription = *frame.add_items()->mutable_subscribe();
    subscription.set_stream(1);
    subscription.set_prefix("/registry/secrets/default/" + std::string(size, 'x'));
    REQUIRE(line.one->send(frame.SerializeAsString()));
    plane.settle();
    if (size < 1'000)
      CHECK(node->end == "");
    else
      CHECK_THAT(node->end, Catch::Contains("node n0 asks for a key of 1000026 bytes"));
    line.cut();
    plane.settle();
  }
}

}  // namespace troupe::test
