#include "actors/watch/watch_view.hpp"

#include <catch2/catch.hpp>

#include "actors/core_fixture.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using persistence::change;
using persistence::change_type;

namespace {

api::object_ptr map(bool shown, persistence::revision at) {
  return std::make_shared<const api::object>(api::kind_of<api::core::v1::ConfigMap>(),
                                             test::core_fixture::config("default", "a", shown, 0),
                                             at);
}

change of(api::object_ptr before, api::object_ptr after, persistence::revision at) {
  change c;
  c.at = at;
  c.key = test::core_fixture::key("default", "a");
  c.type = !before ? change_type::created : !after ? change_type::removed : change_type::updated;
  c.object = std::move(after);
  c.previous = std::move(before);
  return c;
}

std::optional<watch_event> seen(const change& c) {
  event_objects left;
  return event_for({"/registry/configmaps/", test::shown, {}}, c, left);
}

}  // namespace

TEST_CASE("an object that comes into the filter is added") {
  CHECK(seen(of(nullptr, map(true, 5), 5))->type == event_type::added);
  const auto came = seen(of(map(false, 4), map(true, 5), 5));
  CHECK(came->type == event_type::added);
  CHECK(came->object->revision() == 5);
  CHECK(came->previous->revision() == 4);
}

TEST_CASE("an object that stays in the filter is modified, one that stays out is not seen") {
  CHECK(seen(of(map(true, 4), map(true, 5), 5))->type == event_type::modified);
  CHECK_FALSE(seen(of(map(false, 4), map(false, 5), 5)));
  CHECK_FALSE(seen(of(nullptr, map(false, 5), 5)));
}

TEST_CASE("an object that leaves the filter is deleted with its last state at the new revision") {
  const auto before = map(true, 4);
  const auto left = seen(of(before, map(false, 5), 5));
  REQUIRE(left->type == event_type::deleted);
  CHECK(left->object->revision() == 5);
  CHECK(test::shown(*left->object));
  CHECK(left->object->meta().resource_version() == "5");
  CHECK(before->meta().resource_version() == "4");
}

TEST_CASE("a removal is seen when the last state was in the filter") {
  auto removed = of(map(true, 4), nullptr, 5);
  removed.object = map(true, 5);
  CHECK(seen(removed)->type == event_type::deleted);
  CHECK(seen(removed)->object == removed.object);

  auto unseen = of(map(false, 4), nullptr, 5);
  unseen.object = map(false, 5);
  CHECK_FALSE(seen(unseen));
}

TEST_CASE("a state that cannot be decoded is skipped") {
  auto unreadable = of(map(true, 4), nullptr, 5);
  unreadable.type = change_type::updated;
  CHECK_FALSE(seen(unreadable));
  auto lost = of(nullptr, nullptr, 5);
  lost.type = change_type::removed;
  CHECK_FALSE(seen(lost));
}

TEST_CASE("a prefix covers all keys below it, a key only itself") {
  CHECK(watch_view{"/registry/pods/", {}, {}}.covers("/registry/pods/default/web"));
  CHECK_FALSE(watch_view{"/registry/pods/", {}, {}}.covers("/registry/podtemplates/default/web"));
  CHECK(watch_view{"/registry/pods/default/web", {}, {}}.covers("/registry/pods/default/web"));
  CHECK_FALSE(
      watch_view{"/registry/pods/default/web", {}, {}}.covers("/registry/pods/default/web2"));
  CHECK(resource_of("/registry/pods/default/web") == "/registry/pods/");
  CHECK(resource_of("/registry/nodes/n1") == "/registry/nodes/");
  CHECK(resource_of("/registry/").empty());
}

TEST_CASE("a view of one node shows its pods only") {
  using api::core::v1::Pod;
  Pod pod;
  pod.mutable_spec()->set_node_name("n1");
  const auto bound =
      std::make_shared<const api::object>(api::kind_of<Pod>(), std::make_unique<Pod>(pod), 3);
  CHECK(watch_view{"/registry/pods/", {}, "n1"}.shows(bound));
  CHECK_FALSE(watch_view{"/registry/pods/", {}, "n2"}.shows(bound));
  CHECK_FALSE(watch_view{"/registry/configmaps/", {}, "n1"}.shows(map(true, 1)));
}

}  // namespace troupe::actors
