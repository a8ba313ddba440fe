#include "actors/events/recorder.hpp"

#include <catch2/catch.hpp>

#include "actors/events/event_rules.hpp"
#include "actors/events/lru.hpp"
#include "api/schema/core_event.pb.h"
#include "api/scheme.hpp"
#include "api/validation/validation.hpp"
#include "support/cluster.hpp"
#include "support/nodes.hpp"

namespace troupe::test {

using actors::record_event;
using api::core::v1::Event;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

cluster_options controllers_off() {
  cluster_options options;
  options.plane.controllers = false;
  return options;
}

void say(cluster& c, const api::object_ptr& about, const std::string& message) {
  c.plane().core_actors().recorder.tell(record_event{.about = about,
                                                     .warning = true,
                                                     .reason = "Failed",
                                                     .message = message,
                                                     .component = "tester"});
}

}  // namespace

TEST_CASE("an event is recorded with its object") {
  cluster c{1, controllers_off()};
  const auto pod = c.create(pod_named("a"));
  say(c, pod, "it broke");
  c.settle();
  const auto events = c.list<Event>("default");
  REQUIRE(events.size() == 1);
  const auto& event = events[0]->as<Event>();
  CHECK(event.type() == "Warning");
  CHECK(event.reason() == "Failed");
  CHECK(event.message() == "it broke");
  CHECK(event.count() == 1);
  CHECK(event.source().component() == "tester");
  CHECK(event.involved_object().kind() == "Pod");
  CHECK(event.involved_object().uid() == pod->meta().uid());
  CHECK(event.first_timestamp().seconds() == event.last_timestamp().seconds());
}

TEST_CASE("an event is text, whatever bytes a probe printed") {
  cluster c{1, controllers_off()};
  const auto pod = c.create(pod_named("a"));
  say(c, pod, "it said \xff\xc3");
  c.settle();
  CHECK(c.list<Event>("default").at(0)->as<Event>().message() == "it said \uFFFD\uFFFD");
}

TEST_CASE("an event about an object with the longest of names has a valid name") {
  cluster c{1, controllers_off()};
  for (const auto& name :
       {std::string(253, 'a'), std::string(235, 'b') + "." + std::string(17, 'c')})
    say(c, c.create(pod_named(name)), "it broke");
  c.settle();
  const auto events = c.list<Event>("default");
  REQUIRE(events.size() == 2);
  for (const auto& each : events) {
    CHECK(api::validate_create(each->kind(), each->content()).empty());
    CHECK(
        each->meta().name().starts_with(each->as<Event>().involved_object().name().substr(0, 235)));
  }
}

TEST_CASE("equal events are one event that is counted up") {
  cluster c{1, controllers_off()};
  const auto pod = c.create(pod_named("a"));
  for (int i = 0; i < 5; ++i)
    say(c, pod, "it broke");
  c.settle();
  c.advance(seconds{10});
  say(c, pod, "it broke");
  say(c, pod, "it broke otherwise");
  c.settle();
  const auto events = c.list<Event>("default");
  REQUIRE(events.size() == 2);
  const auto& counted = events[0]->as<Event>().message() == "it broke" ? events[0] : events[1];
  CHECK(counted->as<Event>().count() == 6);
  CHECK(counted->as<Event>().last_timestamp().seconds() ==
        counted->as<Event>().first_timestamp().seconds() + 10);
}

TEST_CASE("one object may have 25 events at once, then one in five minutes") {
  cluster c{1, controllers_off()};
  const auto a = c.create(pod_named("a"));
  const auto b = c.create(pod_named("b"));
  for (int i = 0; i < 100; ++i)
    say(c, a, "message " + std::to_string(i));
  say(c, b, "of another object");
  c.settle();
  CHECK(c.count<Event>("default") == 26);
  c.advance(minutes{5});
  say(c, a, "later");
  say(c, a, "too much");
  c.settle();
  CHECK(c.count<Event>("default") == 27);
}

TEST_CASE("events end after an hour without being seen again") {
  cluster c{1, controllers_off()};
  const auto pod = c.create(pod_named("a"));
  say(c, pod, "once");
  say(c, pod, "again");
  c.advance(minutes{50});
  say(c, pod, "again");
  c.advance(minutes{15});
  REQUIRE(c.count<Event>("default") == 1);
  CHECK(c.list<Event>("default")[0]->as<Event>().message() == "again");
  c.advance(minutes{60});
  CHECK(c.count<Event>("default") == 0);
}

TEST_CASE("the oldest events go before their hour when there are too many", "[compact]") {
  auto options = controllers_off();
  options.plane.events = {.count = 100, .bytes = 1 << 20};
  cluster c{1, options};
  std::vector<api::object_ptr> pods;
  for (int i = 0; i < 30; ++i)
    pods.push_back(c.create(pod_named("p" + std::to_string(i))));
  for (int round = 0; round < 10; ++round)
    for (const auto& pod : pods)
      say(c, pod, "message " + std::to_string(round));
  c.settle();
  c.advance(seconds{1});
  CHECK(c.count<Event>("default") == 95);
  for (const auto& each : c.list<Event>("default"))
    CHECK(each->as<Event>().message() >= "message 6");
  // The remaining events are within the limits: no more are deleted.
  c.advance(minutes{2});
  CHECK(c.count<Event>("default") == 95);
}

TEST_CASE("the oldest events go when they take too much together", "[compact]") {
  auto options = controllers_off();
  options.plane.events = {.count = 1'000, .bytes = 64 << 10};
  cluster c{1, options};
  for (int i = 0; i < 30; ++i)
    say(c, c.create(pod_named("p" + std::to_string(i))), std::string(10'000, 'x'));
  c.settle();
  c.advance(seconds{1});
  CHECK(c.store().read().encoded_bytes() <= 64 << 10);
  CHECK(c.count<Event>("default") >= 5);
}

TEST_CASE("events of a store that control planes share are not swept here: they have leases") {
  auto options = controllers_off();
  options.far = true;
  cluster c{1, options};
  say(c, c.create(pod_named("a")), "it broke");
  c.settle();
  REQUIRE(c.count<Event>("default") == 1);
  c.advance(std::chrono::hours{3});
  CHECK(c.count<Event>("default") == 1);
}

TEST_CASE("the time when an event was last seen is read from its encoded form") {
  Event event;
  const auto seen = [&] {
    return actors::last_seen(api::to_storage(api::kind_of<Event>(), event));
  };
  event.mutable_metadata()->set_name("a");
  CHECK(seen() == 0);
  event.mutable_metadata()->mutable_creation_timestamp()->set_seconds(5);
  CHECK(seen() == 5);
  event.mutable_event_time()->set_seconds(6);
  event.mutable_event_time()->set_nanos(1'000);
  CHECK(seen() == 6);
  event.mutable_series()->mutable_last_observed_time()->set_seconds(7);
  CHECK(seen() == 7);
  event.mutable_last_timestamp()->set_seconds(1'704'067'200);
  CHECK(seen() == 1'704'067'200);
  CHECK(actors::last_seen("no event") == 0);
}

TEST_CASE("a bounded map evicts the least recently used entry") {
  actors::lru<int> map{2};
  map.put("a", 1);
  map.put("b", 2);
  CHECK(*map.find("a") == 1);
  map.put("c", 3);
  CHECK(map.find("b") == nullptr);
  CHECK(*map.find("a") == 1);
  CHECK(*map.find("c") == 3);
  map.erase("a");
  CHECK(map.size() == 1);
}

}  // namespace troupe::test
