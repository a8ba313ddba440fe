// The controller of CONTRIBUTING.md, word for word: it must compile and work.
#include <catch2/catch.hpp>
#include <fstream>

#include "build_paths.hpp"
#include "support/workloads.hpp"

// -- the guide begins --
#include "actors/controllers/kit/reconciler.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_replication.pb.h"

namespace troupe::actors::size_notes {

using api::core::v1::ConfigMap;
using api::core::v1::ReplicationController;

// Keeps a ConfigMap NAME-size for one ReplicationController: a pod that mounts it knows how many
// there are of its like.
class size_note_controller : public reconciler {
 public:
  using reconciler::reconciler;

 private:
  void sync() override {
    if (owner()->meta().has_deletion_timestamp()) return;
    const auto size = std::to_string(owner()->as<ReplicationController>().spec().replicas());
    if (dependents().empty()) return make_note(size);
    const auto& note = dependents().begin()->second;
    auto changed = note->copy_as<ConfigMap>();
    if (std::exchange((*changed->mutable_data())["replicas"], size) == size) return;
    replace(note, std::move(changed), [this, size] {
      record(false, "SizeNoted", "Noted that there are to be " + size + " pods");
    });
  }

  void make_note(const std::string& size) {
    auto note = std::make_unique<ConfigMap>();
    note->mutable_metadata()->set_name(owner()->meta().name() + "-size");
    note->mutable_metadata()->set_namespace_(owner()->meta().namespace_());
    (*note->mutable_data())["replicas"] = size;
    if (const auto sent = create(std::move(note)); !sent) {
      record(true, "FailedCreate", "Error creating: " + sent.error().message);
      retry();
    }
  }
};

controller_type controller() {
  return {.name = "size_notes",
          .purpose = "a ConfigMap that says how many pods there are to be",
          .owners = {{&api::kind_of<ReplicationController>(), "sizenote", "size-note-controller"}},
          .dependents = {&api::kind_of<ConfigMap>()},
          .make = make_controller<size_note_controller>};
}

}  // namespace troupe::actors::size_notes
// -- the guide ends --

namespace troupe::test {

using api::core::v1::ConfigMap;
using api::core::v1::ReplicationController;
using std::chrono::seconds;

namespace {

struct stage {
  stage() {
    actors::start_controller(c.simulation().system(), actors::size_notes::controller(),
                             c.plane().core_actors(), c.store());
    c.create(replication_controller("web", 3, {{"app", "web"}}));
    c.settle();
  }

  std::string noted() const {
    const auto note = c.find<ConfigMap>("default", "web-size");
    return note ? note->as<ConfigMap>().data().at("replicas") : "nothing";
  }

  cluster c{1};
};

}  // namespace

TEST_CASE("the controller of the guide records sizes, and restores records that others change",
          "[controllers]") {
  stage s;
  REQUIRE(s.noted() == "3");
  s.c.change<ReplicationController>(
      "default", "web", [](ReplicationController& rc) { rc.mutable_spec()->set_replicas(5); });
  s.c.settle();
  CHECK(s.noted() == "5");
  s.c.change<ConfigMap>("default", "web-size",
                        [](ConfigMap& note) { (*note.mutable_data())["replicas"] = "9"; });
  s.c.settle();
  CHECK(s.noted() == "5");
  s.c.remove<ConfigMap>("default", "web-size");
  s.c.settle();
  CHECK(s.noted() == "5");
  s.c.remove<ReplicationController>("default", "web", -1, "Background");
  s.c.settle();
  CHECK(s.noted() == "nothing");
  CHECK_FALSE(s.c.actor("sizenote", "default/web"));
}

TEST_CASE("the controller of the guide waits while its name is taken", "[controllers]") {
  stage s;
  ConfigMap other;
  other.mutable_metadata()->set_name("db-size");
  (*other.mutable_data())["replicas"] = "somebody else's";
  s.c.create(other);
  s.c.create(replication_controller("db", 1, {{"app", "db"}}));
  s.c.advance(seconds{2});
  CHECK(s.c.get<ConfigMap>("default", "db-size").data().at("replicas") == "somebody else's");
  s.c.remove<ConfigMap>("default", "db-size");
  s.c.advance(seconds{10});
  CHECK(s.c.get<ConfigMap>("default", "db-size").data().at("replicas") == "1");
}

TEST_CASE("the guide shows the very text of the controller that is compiled here",
          "[controllers]") {
  const auto text_of = [](const std::string& path) {
    std::ifstream in{std::string{TROUPE_SOURCE_DIR} + "/" + path};
    return std::string{std::istreambuf_iterator<char>{in}, {}};
  };
  const auto source = text_of("tests/actors/controllers/kit/example_controller_test.cpp");
  const std::string begin = "// -- the guide begins --\n", end = "// -- the guide ends --\n";
  const auto from = source.find(begin) + begin.size();
  const auto shown = source.substr(from, source.find(end, from) - from);
  CHECK(text_of("CONTRIBUTING.md").find(shown) != std::string::npos);
  CHECK(std::count(shown.begin(), shown.end(), '\n') < 100);
}

}  // namespace troupe::test
