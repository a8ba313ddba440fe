// A stream over links that break and reconnect: its subscriber sees every event once and in
// order.
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "actors/core/informer.hpp"
#include "actors/link/joined.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "support/nodes.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using api::core::v1::Pod;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

struct seen {
  persistence::revision at = 0;
  actors::event_type type = actors::event_type::added;
  std::string key;
  auto operator<=>(const seen&) const = default;
};

// Records received events.
class witness : public actors::informer {
 public:
  witness(runtime::actor_ref watcher, std::string node, std::vector<seen>* notes)
      : informer{std::move(watcher)}, node_{std::move(node)}, notes_{notes} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table =
        runtime::handlers(&witness::on_watch_events, &witness::on_watch_ended);
    return table;
  }
  void started() override {
    follow(api::kind_of<Pod>().prefix(),
           [this](const actors::watch_events& m) {
             for (const auto& each : m.events)
               notes_->push_back({each.at, each.type, api::key_of(*each.object)});
           },
           {.on_node = node_, .credit = 20});
  }

 private:
  const std::string node_;
  std::vector<seen>* notes_;
};

// A node behind a link, and one next to the store that sees the same events.
struct two_witnesses {
  explicit two_witnesses(std::uint64_t seed)
      : joined{seed, {.plane = {.controllers = false}}}, random{seed} {
    joined.add("n0");
    joined.start("n0");
    joined.connect("n0");
    auto& system = joined.plane().simulation().system();
    system.spawn({.kind = "witness", .name = "far"},
                 runtime::make<witness>(joined.core_actors_of("n0").watcher, "n0", &far));
    system.spawn({.kind = "witness", .name = "near"},
                 runtime::make<witness>(joined.plane().plane().core_actors().watcher, "n0", &near));
    joined.plane().settle();
  }

  std::uint64_t pick(std::uint64_t below) { return random() % below; }

  void change_something() {
    auto& plane = joined.plane();
    const auto name = "p" + std::to_string(pick(6));
    const auto pod = plane.find<Pod>("default", name);
    if (!pod) {
      plane.create(pod_named(name, pick(4) == 0 ? "n1" : "n0"));
    } else if (pick(3) == 0) {
      plane.remove<Pod>("default", name, 0);
    } else {
      plane.change<Pod>("default", name,
                        [&](Pod& p) { p.mutable_status()->set_message(std::to_string(random())); });
    }
  }

  joined_cluster joined;
  std::mt19937_64 random;
  std::vector<seen> far, near;
};

}  // namespace

TEST_CASE("a stream over a link that comes and goes has no gap and no duplicate", "[link]") {
  for_each_seed(100, [](std::uint64_t seed) {
    two_witnesses world{seed};
    auto& plane = world.joined.plane();
    bool linked = true;
    for (int i = 0; i < 300; ++i) {
      switch (world.pick(12)) {
        case 0:
          world.joined.cut("n0");
          linked = false;
          break;
        case 1:
          linked = world.joined.connect("n0");
          break;
        case 2:
          plane.advance(milliseconds{world.pick(3'000)});
          break;
        default:
          world.change_something();
      }
      for (auto steps = world.pick(30); steps > 0; --steps)
        plane.simulation().step();
    }
    if (!linked) world.joined.connect("n0");
    plane.advance(seconds{10});
    CHECK(world.far.size() > 50);
    CHECK(world.far == world.near);
  });
}

TEST_CASE("a stream over a link outlives crashes at both of its ends", "[link]") {
  for_each_seed(60, [](std::uint64_t seed) {
    two_witnesses world{seed};
    auto& plane = world.joined.plane();
    runtime::fault_plan faults;
    faults.crash = 0.01;
    faults.delay = 0.1;
    faults.may_crash = [](const std::string& kind, const std::string& name) {
      return kind == "gateway" || kind == "watcher" || name == "links";
    };
    plane.simulation().faults(faults);
    for (int i = 0; i < 200; ++i) {
      world.change_something();
      if (world.pick(5) == 0) plane.advance(milliseconds{world.pick(2'000)});
      if (world.pick(4) == 0) world.joined.connect("n0");
      for (auto steps = world.pick(30); steps > 0; --steps)
        plane.simulation().step();
    }
    plane.simulation().faults({});
    plane.advance(seconds{60});
    world.joined.connect("n0");
    plane.advance(seconds{60});
    // A witness starts again if a stream cannot resume; it has seen the final state.
    const auto newest = [](const std::vector<seen>& notes) {
      std::map<std::string, seen> last;
      for (const auto& each : notes)
        last[each.key] = each;
      std::erase_if(last,
                    [](const auto& e) { return e.second.type == actors::event_type::deleted; });
      std::map<std::string, persistence::revision> at;
      for (const auto& [key, each] : last)
        at[key] = each.at;
      return at;
    };
    std::map<std::string, persistence::revision> store;
    for (const auto& pod : plane.list<Pod>())
      if (pod->as<Pod>().spec().node_name() == "n0") store[api::key_of(*pod)] = pod->revision();
    CHECK(newest(world.far) == store);
  });
}

}  // namespace troupe::test
