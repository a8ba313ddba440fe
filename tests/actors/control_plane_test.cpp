// The control plane on real threads.
#include "actors/control_plane/control_plane.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "actors/core/informer.hpp"
#include "actors/watch/watcher.hpp"
#include "actors/write/writer.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/scheme.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::test {

using actors::event_type;
using actors::watch_events;
using api::core::v1::ConfigMap;

namespace {

struct mirror {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> objects;  // name -> resourceVersion
  std::uint64_t last = 0;
  bool in_order = true;

  bool wait(const std::function<bool()>& done) {
    // `done` may also depend on state without a notification: it is polled.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    std::unique_lock lock{mutex};
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      changed.wait_for(lock, std::chrono::milliseconds{1});
    }
    return true;
  }
};

class pupil : public actors::informer {
 public:
  pupil(runtime::actor_ref watcher, std::uint32_t credit, std::shared_ptr<mirror> image)
      : informer{std::move(watcher)}, credit_{credit}, image_{std::move(image)} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&pupil::on_watch_events, &pupil::on_watch_ended);
    return table;
  }

  void started() override {
    actors::stream_options options;
    options.credit = credit_;
    follow(
        api::kind_of<ConfigMap>().prefix(), [this](const watch_events& m) { take(m); }, options);
  }

 private:
  void take(const watch_events& m) {
    std::lock_guard lock{image_->mutex};
    for (const auto& event : m.events) {
      // The initial state is in order of name, later events are in order of revision.
      if (m.synced && synced_) {
        image_->in_order = image_->in_order && event.at > image_->last;
      }
      image_->last = std::max(image_->last, event.at);
      if (event.type == event_type::deleted) {
        image_->objects.erase(event.object->meta().name());
      } else {
        image_->objects[event.object->meta().name()] = event.object->meta().resource_version();
      }
    }
    synced_ = m.synced;
    image_->changed.notify_all();
  }

  std::uint32_t credit_;
  std::shared_ptr<mirror> image_;
  bool synced_ = false;
};

struct threaded_plane {
  explicit threaded_plane(actors::control_plane_options options = {}) {
    store = std::move(persistence::store::open({}).value());
    system = std::make_unique<runtime::actor_system>();
    plane = std::make_unique<actors::control_plane>(*system, *store, options);
  }

  void write(const std::string& name, int value) {
    auto map = std::make_unique<ConfigMap>();
    map->mutable_metadata()->set_namespace_("default");
    map->mutable_metadata()->set_name(name);
    (*map->mutable_data())["value"] = std::to_string(value);
    const auto& kind = api::kind_of<ConfigMap>();
    persistence::transaction transaction;
    transaction.mutations.push_back({kind.key("default", name), &kind, std::move(map)});
    plane->commit(std::move(transaction), 1, [this](const persistence::outcome& result) {
      REQUIRE(result);
      ++done;
    });
  }

  std::map<std::string, std::string> state() const {
    std::map<std::string, std::string> objects;
    store->read().scan(api::kind_of<ConfigMap>().prefix(), {},
                       [&](std::string_view, const api::object_ptr& object) {
                         objects[object->meta().name()] = object->meta().resource_version();
                         return true;
                       });
    return objects;
  }

  // The store outlives the system, the system the control plane.
  std::unique_ptr<persistence::store> store;
  std::unique_ptr<runtime::actor_system> system;
  std::unique_ptr<actors::control_plane> plane;
  std::atomic<int> done{0};
};

}  // namespace

TEST_CASE("informers on threads see all that many writers do, in order") {
  threaded_plane c{{.controllers = false}};
  const auto quick = std::make_shared<mirror>();
  const auto slow = std::make_shared<mirror>();
  const auto& watcher = c.plane->core_actors().watcher;
  c.system->spawn({.kind = "pupil", .name = "quick"},
                  runtime::make<pupil>(watcher, std::uint32_t{1'000}, quick));
  c.system->spawn({.kind = "pupil", .name = "slow"},
                  runtime::make<pupil>(watcher, std::uint32_t{2}, slow));
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&c, w] {
      for (int i = 0; i < 1'000; ++i)
        c.write("c" + std::to_string((w * 7 + i) % 50), i);
    });
  }
  for (auto& each : writers)
    each.join();
  for (const auto& image : {quick, slow}) {
    CHECK(image->wait([&] { return c.done == 4'000 && image->objects == c.state(); }));
    CHECK(image->in_order);
  }
}

TEST_CASE("a subscriber behind the window is served from the log by the reading thread") {
  const auto store = std::move(persistence::store::open({}).value());
  runtime::actor_system system;
  actors::watcher_options options;
  options.log_reader = std::make_shared<runtime::worker_pool>("log-reader", 1, 10);
  options.window_changes = 1;
  options.log_part_changes = 7;
  const auto watcher = system.spawn({.kind = "watcher", .name = "watcher"},
                                    runtime::make<actors::watcher>(store.get(), options));
  store->observe([&](persistence::revision after, persistence::change_batch batch) {
    watcher.tell(actors::committed{after, std::move(batch)});
  });
  const auto image = std::make_shared<mirror>();
  system.spawn({.kind = "pupil", .name = "slow"},
               runtime::make<pupil>(watcher, std::uint32_t{1}, image));
  const auto& kind = api::kind_of<ConfigMap>();
  persistence::revision last = 0;
  std::mutex mutex;
  for (int i = 0; i < 500; ++i) {
    auto map = std::make_unique<ConfigMap>();
    map->mutable_metadata()->set_namespace_("default");
    map->mutable_metadata()->set_name("c" + std::to_string(i % 10));
    (*map->mutable_data())["value"] = std::to_string(i);
    persistence::transaction transaction;
    transaction.mutations.push_back(
        {kind.key("default", map->metadata().name()), &kind, std::move(map)});
    store->submit(std::move(transaction), [&](const persistence::outcome& result) {
      std::lock_guard lock{mutex};
      last = std::max(last, result.value().at);
    });
  }
  CHECK(image->wait([&] {
    std::lock_guard lock{mutex};
    return image->last == 501 && last == 501;
  }));
  CHECK(image->in_order);
  CHECK(image->objects.size() == 10);
  store->observe([](auto, const auto&) {});
}

TEST_CASE("a control plane with all its controllers starts and ends quickly") {
  const auto lasts = [](bool controllers) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 5; ++i)
      threaded_plane{{.controllers = controllers}};
    return std::chrono::steady_clock::now() - begin;
  };
  // A slow machine needs longer for both; nothing is waited for.
  const auto usual = lasts(false);
  CHECK(lasts(true) < std::chrono::seconds{5} + 20 * usual);
}

TEST_CASE("leadership may start and stop under concurrent writes, and no actor is left") {
  threaded_plane c{{.controllers = false}};
  const auto image = std::make_shared<mirror>();
  c.system->spawn(
      {.kind = "pupil", .name = "quick"},
      runtime::make<pupil>(c.plane->core_actors().watcher, std::uint32_t{1'000}, image));
  std::thread writer{[&c] {
    for (int i = 0; i < 2'000; ++i)
      c.write("c" + std::to_string(i % 50), i);
  }};
  const auto serving = c.system->actors().size();
  for (int i = 0; i < 100; ++i) {
    c.plane->start_leading();
    CHECK(c.plane->leads());
    c.plane->stop_leading();
  }
  writer.join();
  CHECK(image->wait([&] { return c.system->actors().size() == serving; }));
  // The image also contains objects that the namespaces' actor has created meanwhile.
  CHECK(image->wait([&] { return c.done == 2'000 && image->objects == c.state(); }));
  CHECK(image->in_order);
}

TEST_CASE("commands from outside are answered, and refused ones say why") {
  threaded_plane c;
  std::mutex mutex;
  std::condition_variable answered;
  api::error error;
  bool done = false;
  c.plane->bind({"/registry/pods/default/none", {}, "n1"}, 7, [&](const auto& result) {
    std::lock_guard lock{mutex};
    if (!result) error = result.error();
    done = true;
    answered.notify_all();
  });
  std::unique_lock lock{mutex};
  REQUIRE(answered.wait_for(lock, std::chrono::minutes{1}, [&] { return done; }));
  CHECK(error.message == "pods \"none\" not found");
}

}  // namespace troupe::test
