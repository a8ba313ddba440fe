// A control plane under random work while its actors crash, messages are late and transactions
// conflict: after the faults end, the cluster must reach the state that its objects specify. A
// failure prints its seed.
#include <catch2/catch.hpp>
#include <random>

#include "actors/garbage/garbage_rules.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "support/cluster.hpp"
#include "support/nodes.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using api::core::v1::Node;
using api::core::v1::Pod;
using std::chrono::seconds;

namespace {

class chaos {
 public:
  chaos(std::uint64_t seed, bool far) : random_{seed}, cluster_{seed, options(far)} {
    for (const char* node : {"n0", "n1", "n2"})
      add_node(cluster_, node);
  }

  void run() {
    runtime::fault_plan faults;
    faults.crash = 0.003;
    faults.delay = 0.1;
    cluster_.simulation().faults(faults);
    for (int i = 0; i < 150; ++i) {
      act();
      for (auto steps = pick(60); steps > 0; --steps)
        cluster_.simulation().step();
      if (pick(8) == 0) cluster_.advance(std::chrono::milliseconds{500 + pick(4'000)});
    }
    cluster_.simulation().faults({});
    // Without any node no pod could be placed.
    if (nodes().empty()) add_node(cluster_, "n0");
    // Longer than the longest restart back-off, the quarantine of vanished nodes and every retry.
    // Nodes report ready, send heartbeats, and end terminating pods, as
    // kubelets would.
    for (const auto& name : nodes())
      post_ready(cluster_, name, "True");
    for (int round = 0; round < 16; ++round) {
      keep_alive(cluster_, nodes(), seconds{10});
      end_pods();
    }
    check();
  }

 private:
  static cluster_options options(bool far) {
    cluster_options all;
    all.far = far;
    all.plane.conflict_chance = 0.05;
    return all;
  }

  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }

  std::vector<std::string> nodes() const {
    std::vector<std::string> names;
    for (const auto& node : cluster_.list<Node>())
      names.push_back(node->meta().name());
    return names;
  }

  std::string ns() { return pick(3) == 0 ? "s" + std::to_string(pick(2)) : "default"; }

  // A refusal (the namespace is terminating, the name is taken) is no failure.
  void act() {
    switch (pick(9)) {
      case 0:
      case 1:
      case 2:
        return add_map();
      case 3:
      case 4:
        return add_pod();
      case 5:
      case 6:
        return remove_map();
      case 7:
        return change_namespace();
      case 8:
        return change_node();
    }
  }

  void add_map() {
    auto map = std::make_unique<ConfigMap>();
    auto& meta = *map->mutable_metadata();
    meta.set_name("m" + std::to_string(next_++));
    meta.set_namespace_(ns());
    own(meta);
    static_cast<void>(cluster_.try_create(std::move(map)));
  }

  void add_pod() {
    auto pod = std::make_unique<Pod>(pod_named("p" + std::to_string(next_++)));
    pod->mutable_metadata()->set_namespace_(ns());
    if (pick(2) == 0) pod->mutable_spec()->set_node_name("n" + std::to_string(pick(4)));
    own(*pod->mutable_metadata());
    static_cast<void>(cluster_.try_create(std::move(pod)));
  }

  void own(api::meta::v1::ObjectMeta& meta) {
    const auto owners = cluster_.list<ConfigMap>(meta.namespace_());
    for (auto count = owners.empty() ? 0 : pick(3); count > 0; --count) {
      const auto& owner = *owners[pick(static_cast<unsigned>(owners.size()))];
      auto& reference = *meta.add_owner_references();
      reference.set_api_version("v1");
      reference.set_kind("ConfigMap");
      reference.set_name(owner.meta().name());
      // Sometimes an owner that never existed.
      reference.set_uid(pick(10) == 0 ? "nobody" : owner.meta().uid());
      reference.set_block_owner_deletion(pick(2) == 0);
      if (meta.owner_references_size() == 2 &&
          meta.owner_references(0).uid() == meta.owner_references(1).uid()) {
        meta.mutable_owner_references()->RemoveLast();
      }
    }
  }

  void remove_map() {
    const auto all = cluster_.list<ConfigMap>();
    if (all.empty()) return;
    const auto& meta = all[pick(static_cast<unsigned>(all.size()))]->meta();
    static const char* const policies[] = {"Background", "Foreground", "Orphan"};
    cluster_.remove<ConfigMap>(meta.namespace_(), meta.name(), -1, policies[pick(3)]);
  }

  void change_namespace() {
    const auto name = "s" + std::to_string(pick(2));
    if (cluster_.find<Namespace>({}, name)) {
      if (pick(3) == 0) cluster_.remove<Namespace>({}, name);
      return;
    }
    auto made = std::make_unique<Namespace>();
    made->mutable_metadata()->set_name(name);
    static_cast<void>(cluster_.try_create(std::move(made)));
  }

  void change_node() {
    const auto name = "n" + std::to_string(pick(4));
    if (!cluster_.find<Node>({}, name)) {
      add_node(cluster_, name);
    } else if (pick(2) == 0) {
      cluster_.remove<Node>({}, name);
    } else {
      renew_lease(cluster_, name);
    }
  }

  void end_pods() {
    for (const auto& pod : cluster_.list<Pod>()) {
      const auto& meta = pod->meta();
      const auto& node = pod->as<Pod>().spec().node_name();
      if (meta.has_deletion_timestamp() && cluster_.find<Node>({}, node)) {
        cluster_.remove<Pod>(meta.namespace_(), meta.name(), 0);
      }
    }
  }

  void check() {
    const auto state = cluster_.store().read();
    state.scan("/registry/", {}, [&](std::string_view key, const api::object_ptr& object) {
      INFO(key << " " << object->json());
      CHECK_FALSE(object->meta().has_deletion_timestamp());
      const auto& owners = object->meta().owner_references();
      for (const auto& owner : owners) {
        CHECK(actors::state_of(*object, owner, state) == actors::owner_state::solid);
      }
      return true;
    });
    for (const auto& pod : cluster_.list<Pod>()) {
      const auto& node = pod->as<Pod>().spec().node_name();
      INFO(pod->json());
      CHECK(cluster_.find<Node>({}, node));
      CHECK(cluster_.actor("pod", pod->meta().namespace_() + "/" + pod->meta().name()));
    }
    for (const auto& name : nodes())
      CHECK(cluster_.actor("minion", name));
    std::size_t pods = 0, minions = 0;
    cluster_.simulation().system().actors().each([&](const runtime::actor_info& info) {
      pods += info.kind == "pod" ? 1 : 0;
      minions += info.kind == "minion" ? 1 : 0;
    });
    CHECK(pods == cluster_.count<Pod>());
    CHECK(minions == nodes().size());
    CHECK(cluster_.find<Namespace>({}, "default"));
  }

  std::mt19937_64 random_;
  cluster cluster_;
  int next_ = 0;
};

}  // namespace

TEST_CASE("when crashes, delays and conflicts end, the cluster is as its objects specify",
          "[seeds]") {
  for_each_seed(500, [](std::uint64_t seed) { chaos{seed, false}.run(); });
}

TEST_CASE("the cluster converges after faults over a remote store with other writers",
          "[seeds][far]") {
  for_each_seed(200, [](std::uint64_t seed) { chaos{seed, true}.run(); });
}

}  // namespace troupe::test
