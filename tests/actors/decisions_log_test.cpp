// What the control plane says of its decisions in the log: what an operator would ask about at the
// level info, each step at debug, with the object and its revision.
#include <spdlog/sinks/ostream_sink.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "actors/core/log.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_pod.pb.h"
#include "support/cluster.hpp"
#include "support/nodes.hpp"

namespace troupe::test {

using api::core::v1::ConfigMap;
using api::core::v1::Pod;
using Catch::Matchers::Contains;
using std::chrono::seconds;

namespace {

ConfigMap map_named(const std::string& name) {
  ConfigMap map;
  map.mutable_metadata()->set_name(name);
  map.mutable_metadata()->set_namespace_("default");
  return map;
}

// The lines of the room's logger while it lives, each as "level message".
class room_log {
 public:
  room_log() : before_{actors::log().level()} {
    sink_->set_pattern("%l %v");
    actors::log().sinks().push_back(sink_);
    actors::log().set_level(spdlog::level::debug);
  }
  ~room_log() {
    actors::log().sinks().pop_back();
    actors::log().set_level(before_);
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  const std::shared_ptr<spdlog::sinks::ostream_sink_mt> sink_ =
      std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
  const spdlog::level::level_enum before_;
};

}  // namespace

TEST_CASE("a bind and a pod without a node are steps in the log, with object and revision") {
  const room_log log;
  cluster c{1};
  add_node(c, "n1");
  c.create(pod_named("fits"));
  auto large = pod_named("large");
  (*large.mutable_spec()->mutable_node_selector())["no"] = "such";
  const auto made = c.create(large);
  c.settle();
  CHECK(c.get<Pod>("default", "fits").spec().node_name() == "n1");
  CHECK_THAT(log.text(),
             Contains("debug scheduler: /registry/pods/default/fits is bound to n1 at revision "));
  CHECK_THAT(log.text(), Contains("debug scheduler: no node for /registry/pods/default/large at "
                                  "revision " +
                                  std::to_string(made->revision()) + ": "));
}

TEST_CASE("a node that falls silent is told of once, and so is its return") {
  const room_log log;
  cluster c{1};
  add_node(c, "n1");
  add_node(c, "n2");
  renew_lease(c, "n2");
  keep_alive(c, {"n1"}, seconds{45});
  CHECK_THAT(log.text(), Contains("info node n2 at revision ") &&
                             Contains("has been silent for 40 s: it is not ready"));
  renew_lease(c, "n2");
  c.settle();
  CHECK_THAT(log.text(), Contains("is heard again"));
}

TEST_CASE("what the garbage collector removes, and whom it waits for, is in the log") {
  const room_log log;
  cluster c{1};
  const auto owner = c.create(map_named("owner"));
  auto dependent = map_named("dependent");
  auto& reference = *dependent.mutable_metadata()->add_owner_references();
  reference.set_api_version("v1");
  reference.set_kind("ConfigMap");
  reference.set_name("owner");
  reference.set_uid(owner->meta().uid());
  const auto made = c.create(dependent);
  c.settle();
  c.remove<ConfigMap>("default", "owner");
  c.settle();
  CHECK_THAT(log.text(),
             Contains("debug garbage: /registry/configmaps/default/dependent at revision " +
                      std::to_string(made->revision()) + " is removed: no owner is left"));
}

}  // namespace troupe::test
