#include "actors/core/informer.hpp"

#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "actors/core_fixture.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::test {

using actors::event_type;
using actors::watch_events;
using std::chrono::seconds;

namespace {

constexpr const char* all = "/registry/configmaps/";

struct store_copy {
  std::map<std::string, std::string> objects;  // name -> resourceVersion
  int beginnings = 0;
  int doubles = 0;
};

// Keeps a copy of the config maps, as a controller would.
class copier : public actors::informer {
 public:
  copier(runtime::actor_ref watcher, std::shared_ptr<store_copy> copy)
      : informer{std::move(watcher)}, copy_{std::move(copy)} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&copier::on_watch_events, &copier::on_watch_ended);
    return table;
  }

  void started() override {
    ++copy_->beginnings;
    copy_->objects.clear();
    follow(all, [this](const watch_events& m) { take(m); }, {.credit = 5});
  }

 private:
  void take(const watch_events& m) {
    for (const auto& event : m.events) {
      const auto& meta = event.object->meta();
      const auto name = meta.namespace_() + "/" + meta.name();
      const bool known = copy_->objects.count(name) != 0;
      if (known == (event.type == event_type::added)) ++copy_->doubles;
      if (event.type == event_type::deleted) {
        copy_->objects.erase(name);
      } else {
        copy_->objects[name] = meta.resource_version();
      }
    }
  }

  std::shared_ptr<store_copy> copy_;
};

std::map<std::string, std::string> store_content(core_fixture& d) {
  std::map<std::string, std::string> objects;
  d.store->read().scan(all, {}, [&](std::string_view, const api::object_ptr& object) {
    objects[object->meta().namespace_() + "/" + object->meta().name()] =
        object->meta().resource_version();
    return true;
  });
  return objects;
}

std::shared_ptr<store_copy> spawn_copier(core_fixture& d) {
  auto copy = std::make_shared<store_copy>();
  d.simulation.system().spawn({.kind = "copier", .name = "copier"},
                              runtime::make<copier>(d.watcher, copy));
  d.simulation.settle();
  return copy;
}

void crash(core_fixture& d, const std::string& kind) {
  d.simulation.faults(
      {.crash = 1, .may_crash = [kind](const auto& its, const auto&) { return its == kind; }});
  d.put("default", "poke", true, 0);
  for (int i = 0; i < 100; ++i)
    d.simulation.step();
  d.simulation.faults({});
}

}  // namespace

TEST_CASE("an informer keeps up with any credit") {
  core_fixture d{1};
  for (int i = 0; i < 30; ++i)
    d.put("default", fmt::format("c{}", i));
  const auto copy = spawn_copier(d);
  for (int i = 0; i < 30; ++i)
    d.remove("default", fmt::format("c{}", i));
  d.put("default", "last");
  d.simulation.settle();
  CHECK(copy->objects == store_content(d));
  CHECK(copy->objects.size() == 1);
  CHECK(copy->doubles == 0);
}

TEST_CASE("a crash of the watcher stops no informer, and it sees nothing twice") {
  core_fixture d{1};
  const auto copy = spawn_copier(d);
  d.put("default", "before");
  d.simulation.settle();
  crash(d, "watcher");
  d.put("default", "during");
  d.simulation.advance(seconds{5});
  d.put("default", "after");
  d.simulation.settle();
  CHECK(copy->objects == store_content(d));
  CHECK(copy->objects.size() == 4);
  CHECK(copy->doubles == 0);
  CHECK(copy->beginnings == 1);
}

TEST_CASE("an informer that crashes starts again from the present state") {
  core_fixture d{1};
  const auto copy = spawn_copier(d);
  d.put("default", "before");
  d.simulation.settle();
  crash(d, "copier");
  d.remove("default", "before");
  d.simulation.advance(seconds{5});
  CHECK(copy->beginnings == 2);
  CHECK(copy->objects == store_content(d));
}

TEST_CASE("an informer whose revision was compacted starts again") {
  core_fixture_options options;
  options.watcher.window_changes = 1;
  core_fixture d{1, options};
  const auto copy = spawn_copier(d);
  d.put("default", "old");
  d.simulation.settle();
  // The watcher crashes; before the informer resubscribes its revision is compacted.
  crash(d, "watcher");
  for (int i = 0; i < 10; ++i)
    d.put("default", "new", true, i);
  d.remove("default", "old");
  REQUIRE(d.store->compact(d.store->read().at() - 1));
  d.simulation.advance(seconds{10});
  CHECK(copy->beginnings == 2);
  CHECK(copy->objects == store_content(d));
}

TEST_CASE("informers reach the state of the store through crashes and delays, for any seed") {
  const auto seed = GENERATE(range(1, 101));
  INFO("seed " << seed);
  std::mt19937_64 random{static_cast<std::uint64_t>(seed)};
  core_fixture_options options;
  options.watcher.window_changes = 1 + random() % 20;
  options.watcher.log_part_changes = 1 + random() % 10;
  core_fixture d{static_cast<std::uint64_t>(seed), options};
  const auto copy = spawn_copier(d);
  runtime::fault_plan faults;
  faults.crash = 0.02;
  faults.delay = 0.2;
  d.simulation.faults(faults);
  for (int i = 0; i < 200; ++i) {
    const auto name = fmt::format("c{}", random() % 10);
    if (random() % 3 == 0) {
      d.remove("default", name);
    } else {
      d.put("default", name, true, i);
    }
    for (auto steps = random() % 8; steps > 0; --steps)
      d.simulation.step();
    if (random() % 10 == 0) d.simulation.advance(std::chrono::milliseconds{700});
  }
  d.simulation.faults({});
  d.simulation.advance(std::chrono::minutes{2});
  CHECK(copy->objects == store_content(d));
}

}  // namespace troupe::test
