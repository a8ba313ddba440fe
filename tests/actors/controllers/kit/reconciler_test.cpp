// The features that every controller inherits, tested with one that keeps a pod and a config map.
#include "actors/controllers/kit/reconciler.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "actors/controllers/registry.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_service.pb.h"
#include "build_paths.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using api::core::v1::ConfigMap;
using api::core::v1::Pod;
using api::core::v1::Service;
using std::chrono::seconds;

namespace {

// For each Service a config map with its name and a pod with any name; adopts by selector.
class pair_controller : public actors::reconciler {
 public:
  using actors::reconciler::reconciler;

 private:
  void sync() override {
    if (failed() || owner()->meta().has_deletion_timestamp()) return;
    bool pod = false, config = false;
    for (const auto& [key, each] : dependents())
      (&each->kind() == &api::kind_of<Pod>() ? pod : config) = true;
    if (!pod) {
      auto made = prepared<Pod>();
      made->mutable_metadata()->clear_name();
      made->mutable_metadata()->set_generate_name("pair-");
      auto& container = *made->mutable_spec()->add_containers();
      container.set_name("c");
      container.set_image("i");
      send(std::move(made));
    }
    if (!config) send(prepared<ConfigMap>());
  }

  template <class T>
  std::unique_ptr<T> prepared() const {
    auto made = std::make_unique<T>();
    auto& meta = *made->mutable_metadata();
    meta.set_name(owner()->meta().name());
    meta.set_namespace_(owner()->meta().namespace_());
    *meta.mutable_labels() = owner()->as<Service>().spec().selector();
    return made;
  }
  void send(std::unique_ptr<api::body> content) {
    if (!create(std::move(content))) retry();
  }
};

actors::controller_type pairs() {
  return {.name = "pairs",
          .purpose = "a pod and a config map",
          .owners = {actors::selecting_owner<Service>("pair", "pair-controller")},
          .dependents = {&api::kind_of<Pod>(), &api::kind_of<ConfigMap>()},
          .make = actors::make_controller<pair_controller>};
}

Service service(const std::string& name) {
  Service made;
  made.mutable_metadata()->set_name(name);
  (*made.mutable_spec()->mutable_selector())["app"] = name;
  auto& port = *made.mutable_spec()->add_ports();
  port.set_port(80);
  return made;
}

struct stage {
  explicit stage(std::uint64_t seed = 1) : c{seed} {
    actors::start_controller(c.simulation().system(), pairs(), c.plane().core_actors(), c.store());
  }

  template <class T>
  std::string owner_of(const std::string& name) const {
    const auto found = c.find<T>("default", name);
    return found ? std::string{actors::controller_uid(*found)} : "nothing";
  }
  std::size_t pods_of(const std::string& name) const { return active_pods(c, uid(name)); }
  std::string uid(const std::string& name) const {
    return c.find<Service>("default", name)->meta().uid();
  }
  std::uint64_t handled(const std::string& name) const {
    const auto& all = c.simulation().system().actors();
    return all.find(all.find("pair", "default/" + name).id())->handled;
  }

  mutable cluster c;
};

ConfigMap config_map(const std::string& name, const std::string& app) {
  ConfigMap made;
  made.mutable_metadata()->set_name(name);
  (*made.mutable_metadata()->mutable_labels())["app"] = app;
  return made;
}

}  // namespace

TEST_CASE("a controller keeps dependents of several kinds", "[controllers]") {
  stage s;
  s.c.create(service("web"));
  s.c.settle();
  CHECK(s.pods_of("web") == 1);
  CHECK(s.owner_of<ConfigMap>("web") == s.uid("web"));
  s.c.remove<ConfigMap>("default", "web");
  s.c.remove<Pod>("default", s.c.list<Pod>().front()->meta().name(), 0);
  s.c.settle();
  CHECK(s.pods_of("web") == 1);
  CHECK(s.owner_of<ConfigMap>("web") == s.uid("web"));
}

TEST_CASE("a controller adopts objects that its selector matches and releases others",
          "[controllers]") {
  stage s;
  s.c.create(config_map("mine", "web"));
  s.c.create(service("web"));
  s.c.settle();
  CHECK(s.owner_of<ConfigMap>("mine") == s.uid("web"));
  CHECK_FALSE(s.c.find<ConfigMap>("default", "web"));
  s.c.change<ConfigMap>("default", "mine", [](ConfigMap& changed) {
    (*changed.mutable_metadata()->mutable_labels())["app"] = "other";
  });
  s.c.settle();
  CHECK(s.owner_of<ConfigMap>("mine").empty());
  CHECK(s.owner_of<ConfigMap>("web") == s.uid("web"));
}

TEST_CASE("a controller whose selector changes adopts and releases dependents again",
          "[controllers]") {
  stage s;
  s.c.create(service("web"));
  s.c.create(config_map("next", "db"));
  s.c.settle();
  s.c.change<Service>("default", "web", [](Service& changed) {
    (*changed.mutable_spec()->mutable_selector())["app"] = "db";
  });
  s.c.settle();
  CHECK(s.owner_of<ConfigMap>("web").empty());
  CHECK(s.owner_of<ConfigMap>("next") == s.uid("web"));
}

TEST_CASE("an owner that is being deleted adopts nothing", "[controllers]") {
  stage s;
  auto held = service("web");
  held.mutable_metadata()->add_finalizers("example.com/hold");
  s.c.create(held);
  s.c.settle();
  s.c.remove<Service>("default", "web");
  s.c.settle();
  REQUIRE(s.c.find<Service>("default", "web")->meta().has_deletion_timestamp());
  s.c.create(config_map("late", "web"));
  s.c.settle();
  CHECK(s.owner_of<ConfigMap>("late").empty());
}

TEST_CASE("an object without a controller is shown to those alone that may select it",
          "[controllers]") {
  stage s;
  for (int i = 0; i < 20; ++i)
    s.c.create(service("s" + std::to_string(i)));
  s.c.settle();
  std::vector<std::uint64_t> before;
  for (int i = 0; i < 20; ++i)
    before.push_back(s.handled("s" + std::to_string(i)));
  s.c.create(config_map("mine", "s7"));
  s.c.settle();
  CHECK(s.owner_of<ConfigMap>("mine") == s.uid("s7"));
  for (std::size_t i = 0; i < 20; ++i)
    CHECK((s.handled("s" + std::to_string(i)) > before[i]) == (i == 7));
}

TEST_CASE("a controller that is killed at any moment makes nothing twice, and in the end all",
          "[controllers]") {
  for (int moment = 0; moment < 40; ++moment) {
    INFO("killed after " << moment << " messages");
    stage s{static_cast<std::uint64_t>(moment)};
    s.c.settle();
    s.c.create(service("web"));
    for (int i = 0; i < moment; ++i)
      s.c.simulation().step();
    if (s.c.actor("pair", "default/web")) s.c.crash("pair", "default/web");
    s.c.advance(seconds{10});
    CHECK(s.c.count<Pod>() == 1);
    CHECK(s.owner_of<ConfigMap>("web") == s.uid("web"));
  }
}

TEST_CASE("names of controllers and of their actors are unique, and the README has them all",
          "[controllers]") {
  std::ifstream in{std::string{TROUPE_SOURCE_DIR} + "/actors/controllers/README.md"};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  std::set<std::string> names;
  for (const auto& type : actors::known_controllers()) {
    CHECK(names.insert("supervisor/" + type.name).second);
    CHECK_FALSE(type.purpose.empty());
    std::string kinds;
    for (const auto& owner : type.owners) {
      CHECK(names.insert(owner.actor_kind).second);
      CHECK(names.insert(owner.component).second);
      kinds += (kinds.empty() ? "" : ", ") + owner.kind->kind();
    }
    const auto row = "| `" + type.name + "/` | " + kinds + " | " + type.purpose;
    if (text.find(row) != std::string::npos) continue;
    std::string dependents;
    for (const auto& each : type.dependents)
      dependents += (dependents.empty() ? "" : ", ") + each->kind();
    FAIL_CHECK("actors/controllers/README.md lacks this row:\n"
               << row << " | " << dependents << " |");
  }
}

}  // namespace troupe::test
