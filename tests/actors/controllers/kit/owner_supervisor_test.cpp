// A supervisor whose initial states arrive late.
#include "actors/controllers/kit/owner_supervisor.hpp"

#include <catch2/catch.hpp>

#include "actors/controllers/kit/reconciler.hpp"
#include "actors/late_watcher.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_service.pb.h"
#include "support/cluster.hpp"

namespace troupe::test {

using api::core::v1::ConfigMap;
using api::core::v1::Pod;
using api::core::v1::Service;

namespace {

// Keeps a pod with the name of its service while a config map with its labels exists.
class one_pod_controller : public actors::reconciler {
 public:
  using actors::reconciler::reconciler;

 private:
  void sync() override {
    if (failed()) return;
    const bool wanted = !observed().empty();
    if (!wanted)
      for (const auto& [key, each] : dependents())
        remove_dependent(each);
    if (!wanted || !dependents().empty()) return;
    auto made = std::make_unique<Pod>();
    made->mutable_metadata()->set_name(owner()->meta().name());
    made->mutable_metadata()->set_namespace_(owner()->meta().namespace_());
    made->mutable_spec()->set_scheduler_name("nobody");  // changes of the pod cause no sync
    auto& container = *made->mutable_spec()->add_containers();
    container.set_name("c");
    container.set_image("i");
    if (!create(std::move(made))) retry();
  }
};

// A service without a selector observes nothing.
api::label_selector observed_by(const api::object& service) {
  const auto& selector = service.as<Service>().spec().selector();
  return selector.empty() ? api::label_selector::nothing() : actors::compile(selector);
}

actors::controller_type one_pod_type() {
  return {.name = "one-pods",
          .purpose = "a pod while there is a config map",
          .owners = {{.kind = &api::kind_of<Service>(),
                      .actor_kind = "one-pod",
                      .component = "one-pod",
                      .observes = &observed_by}},
          .dependents = {&api::kind_of<Pod>()},
          .make = actors::make_controller<one_pod_controller>,
          .observed = {&api::kind_of<ConfigMap>()}};
}

struct stage {
  explicit stage(const api::kind_info& late, const std::string& selected = "web") {
    auto core = c.plane().core_actors();
    watcher =
        c.simulation().system().spawn({.kind = "late-watcher", .name = "late-watcher"},
                                      runtime::make<late_watcher>(core.watcher, late.prefix()));
    core.watcher = watcher;
    actors::start_controller(c.simulation().system(), one_pod_type(), core, c.store());
    ConfigMap config;
    config.mutable_metadata()->set_name("config");
    (*config.mutable_metadata()->mutable_labels())["app"] = "web";
    c.create(config);
    Service service;
    service.mutable_metadata()->set_name("web");
    if (!selected.empty()) (*service.mutable_spec()->mutable_selector())["app"] = selected;
    service.mutable_spec()->add_ports()->set_port(80);
    c.create(service);
    c.advance(std::chrono::seconds{1});  // until no sync is due
  }
  void show() {
    watcher.tell(show_all{});
    c.settle();
  }
  bool has_pod() const { return c.find<Pod>("default", "web") != nullptr; }

  cluster c{1};
  runtime::actor_ref watcher;
};

}  // namespace

TEST_CASE("a controller learns of a dependent that went before the initial state was taken",
          "[controllers]") {
  stage s{api::kind_of<Pod>()};
  if (s.has_pod()) s.c.remove<Pod>("default", "web", 0);
  s.show();
  CHECK(s.c.run_until([&] { return s.has_pod(); }));
}

TEST_CASE(
    "a controller learns of an observed object that was deleted before the initial state was read",
    "[controllers]") {
  stage s{api::kind_of<ConfigMap>()};
  s.c.remove<ConfigMap>("default", "config");
  s.show();
  CHECK(s.c.run_until([&] { return !s.has_pod(); }));
}

TEST_CASE(
    "a controller that begins to observe a kind learns of objects deleted before the initial read",
    "[controllers]") {
  stage s{api::kind_of<ConfigMap>(), ""};
  s.c.change<Service>("default", "web", [](Service& each) {
    (*each.mutable_spec()->mutable_selector())["app"] = "web";
  });
  REQUIRE(s.c.run_until([&] { return s.has_pod(); }));
  s.c.remove<ConfigMap>("default", "config");
  s.show();
  CHECK(s.c.run_until([&] { return !s.has_pod(); }, std::chrono::seconds{20}));
}

TEST_CASE("a controller is started when the initial state of every kind is here", "[controllers]") {
  stage s{api::kind_of<ConfigMap>()};
  CHECK_FALSE(s.has_pod());
  s.show();
  CHECK(s.has_pod());
  s.c.remove<Service>("default", "web");
  s.c.settle();
  CHECK_FALSE(s.c.simulation().system().actors().find("one-pod", "default/web"));
}

}  // namespace troupe::test
