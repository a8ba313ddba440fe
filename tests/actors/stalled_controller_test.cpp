// One stuck controller among others, on threads.
#include <catch2/catch.hpp>
#include <future>
#include <map>
#include <mutex>

#include "actors/control_plane/control_plane.hpp"
#include "actors/controllers/kit/owner_supervisor.hpp"
#include "actors/controllers/replication/replication.hpp"
#include "actors/write/creation.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "runtime/actor_system.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using api::core::v1::Namespace;
using api::core::v1::Pod;
using api::core::v1::ReplicationController;

namespace {

// Blocks until it is released.
class stuck : public runtime::actor {
 public:
  explicit stuck(std::shared_future<void> free) : free_{std::move(free)} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&stuck::on_own_change);
    return table;
  }
  void started() override { free_.wait(); }
  void on_own_change(const actors::owner_event&) {}

 private:
  std::shared_future<void> free_;
};

// Core actors without controllers, and a supervisor whose controller "stuck" blocks.
struct threaded_plane {
  threaded_plane() {
    store = std::move(persistence::store::open({}).value());
    runtime::system_options options;
    options.threads = 2;
    system = std::make_unique<runtime::actor_system>(std::move(options));
    actors::control_plane_options core_only;
    core_only.controllers = false;
    plane = std::make_unique<actors::control_plane>(*system, *store, core_only);
    auto type = actors::replication::controller();
    type.make = [make = type.make, free = let_go.get_future().share()](
                    const std::string& key,
                    actors::controller_context_ptr context) -> std::unique_ptr<runtime::actor> {
      if (key.ends_with("/stuck")) return std::make_unique<stuck>(free);
      return make(key, std::move(context));
    };
    supervisor = actors::start_controller(*system, type, plane->core_actors(), *store);
  }
  ~threaded_plane() { system->stop(supervisor); }

  template <class T>
  void create(const T& content) {
    const auto now = std::chrono::system_clock::now();
    auto transaction =
        actors::create_transaction(store->read(), api::kind_of<T>(), std::make_unique<T>(content),
                                   actors::checks::all, now, random);
    REQUIRE(transaction);
    std::promise<bool> done;
    plane->commit(std::move(*transaction), 1,
                  [&](const persistence::outcome& result) { done.set_value(result.has_value()); });
    REQUIRE(done.get_future().get());
  }

  // The store outlives the system, the system the control plane.
  std::unique_ptr<persistence::store> store;
  std::unique_ptr<runtime::actor_system> system;
  std::unique_ptr<actors::control_plane> plane;
  std::promise<void> let_go;
  runtime::actor_ref supervisor;
  std::mt19937_64 random{1};
};

}  // namespace

TEST_CASE("a controller that is stuck delays none of the others", "[replication]") {
  threaded_plane c;
  Namespace ns;
  ns.mutable_metadata()->set_name("default");
  c.create(ns);
  c.create(replication_controller("stuck", 1, {{"app", "stuck"}}));
  constexpr std::size_t others = 100;
  for (std::size_t i = 0; i < others; ++i) {
    const auto name = "rc" + std::to_string(i);
    c.create(replication_controller(name, 3, {{"app", name}}));
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  const auto pods = [&] { return c.store->read().count(api::kind_of<Pod>().prefix()); };
  while (pods() < 3 * others && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  const auto& actors = c.system->actors();
  const auto info = actors.find(actors.find("replicationcontroller", "default/stuck").id());
  const bool still_stuck = info && !info->current.empty();
  CHECK(pods() == 3 * others);
  CHECK(still_stuck);
  c.let_go.set_value();
}

}  // namespace troupe::test
