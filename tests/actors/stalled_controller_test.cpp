// One controller that is stuck beside others, on threads.
#include <catch2/catch.hpp>
#include <future>
#include <map>
#include <mutex>

#include "actors/control_plane.hpp"
#include "actors/creation.hpp"
#include "actors/owner_supervisor.hpp"
#include "actors/replication/replica_controller.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "runtime/system.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using api::core::v1::Namespace;
using api::core::v1::Pod;
using api::core::v1::ReplicationController;

namespace {

// Handles nothing until it is let go.
class stuck : public runtime::actor {
 public:
  explicit stuck(std::shared_future<void> free) : free_{std::move(free)} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&stuck::on_own_change);
    return table;
  }
  void on_own_change(const actors::own_change&) { free_.wait(); }

 private:
  std::shared_future<void> free_;
};

// Doors without controllers, and a supervisor whose controller of "stuck" is one.
struct company {
  company() {
    truth = std::move(persistence::store::open({}).value());
    runtime::system_options options;
    options.threads = 2;
    system = std::make_unique<runtime::system>(std::move(options));
    actors::control_plane_options doors_only;
    doors_only.controllers = false;
    plane = std::make_unique<actors::control_plane>(*system, *truth, doors_only);
    const auto& kind = api::kind_of<ReplicationController>();
    actors::ownership what{
        .owners = {{&kind, "replicationcontroller"}},
        .dependents = &api::kind_of<Pod>(),
        .selector_of =
            [](const api::object& object) {
              return api::label_selector::from(
                  object.as<ReplicationController>().spec().selector());
            },
        .make_controller = [this, stuck_key = kind.key("default", "stuck"),
                            free = let_go.get_future().share()](
                               const std::string& key) -> std::unique_ptr<runtime::actor> {
          if (key == stuck_key) return std::make_unique<stuck>(free);
          return std::make_unique<actors::replication::replica_controller>(key, plane->doors(),
                                                                           *truth);
        }};
    supervisor =
        system->spawn({.kind = "supervisor", .name = "replication"},
                      runtime::make<actors::owner_supervisor>(plane->doors().watcher, what));
  }
  ~company() { system->stop(supervisor); }

  template <class T>
  void create(const T& content) {
    const auto now = std::chrono::system_clock::now();
    auto what =
        actors::create_transaction(truth->read(), api::kind_of<T>(), std::make_unique<T>(content),
                                   actors::checks::all, now, random);
    REQUIRE(what);
    std::promise<bool> done;
    plane->commit(std::move(*what), 1,
                  [&](const persistence::outcome& result) { done.set_value(result.has_value()); });
    REQUIRE(done.get_future().get());
  }

  // The store outlives the system, the system the control plane.
  std::unique_ptr<persistence::store> truth;
  std::unique_ptr<runtime::system> system;
  std::unique_ptr<actors::control_plane> plane;
  std::promise<void> let_go;
  runtime::actor_ref supervisor;
  std::mt19937_64 random{1};
};

}  // namespace

TEST_CASE("a controller that is stuck delays none of the others", "[replication]") {
  company c;
  Namespace space;
  space.mutable_metadata()->set_name("default");
  c.create(space);
  c.create(replication_controller("stuck", 1, {{"app", "stuck"}}));
  constexpr std::size_t others = 100;
  for (std::size_t i = 0; i < others; ++i) {
    const auto name = "rc" + std::to_string(i);
    c.create(replication_controller(name, 3, {{"app", name}}));
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{30};
  const auto pods = [&] { return c.truth->read().count(api::kind_of<Pod>().prefix()); };
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
