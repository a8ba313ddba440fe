// Which objects the pods of a node use: compared with a walk over all pods and volumes.
#include "actors/access/node_graph.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "actors/access/policies.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/core_pod.pb.h"
#include "support/seeds.hpp"

namespace troupe::test {

using actors::access::node_graph;
using api::core::v1::ConfigMap;
using api::core::v1::PersistentVolume;
using api::core::v1::PersistentVolumeClaim;
using api::core::v1::Pod;
using api::core::v1::Secret;
using persistence::change;
using persistence::change_type;

namespace {

const std::vector<std::string> letters{"a", "b", "c"};

struct world {
  node_graph graph;
  std::map<std::string, api::object_ptr> objects;
  policy_source source;
  int pods = 0;

  explicit world(std::uint64_t seed) : source{seed} {}

  api::object_ptr pod(const std::string& name) {
    Pod made;
    made.mutable_metadata()->set_name(name);
    made.mutable_metadata()->set_namespace_("ns");
    made.mutable_metadata()->set_uid(std::to_string(++pods));
    auto& spec = *made.mutable_spec();
    spec.set_node_name(source.any({"", "n0", "n1"}));
    for (auto left = source.below(3); left > 0; --left) {
      auto& volume = *spec.add_volumes()->mutable_volume_source();
      if (source.below(2) == 0)
        volume.mutable_secret()->set_secret_name(source.any(letters));
      else
        volume.mutable_persistent_volume_claim()->set_claim_name(source.any(letters));
    }
    if (source.below(3) == 0)
      spec.add_ephemeral_containers()
          ->mutable_ephemeral_container_common()
          ->add_env_from()
          ->mutable_config_map_ref()
          ->mutable_local_object_reference()
          ->set_name(source.any(letters));
    return as_object(made);
  }

  api::object_ptr volume(const std::string& name) {
    PersistentVolume made;
    made.mutable_metadata()->set_name(name);
    auto& spec = *made.mutable_spec();
    if (source.below(3) != 0) {
      spec.mutable_claim_ref()->set_namespace_("ns");
      spec.mutable_claim_ref()->set_name(source.any(letters));
    }
    auto& csi = *spec.mutable_persistent_volume_source()->mutable_csi();
    csi.mutable_node_stage_secret_ref()->set_name(source.any(letters));
    csi.mutable_node_stage_secret_ref()->set_namespace_("ns");
    csi.mutable_controller_expand_secret_ref()->set_name("z");
    csi.mutable_controller_expand_secret_ref()->set_namespace_("ns");
    return as_object(made);
  }

  void write() {
    const auto name = source.any({"x", "y", "z"});
    const bool of_pod = source.below(3) != 0;
    auto& at = objects[(of_pod ? "pod " : "volume ") + name];
    change made;
    made.previous = at;
    if (at && source.below(3) == 0) {
      made.type = change_type::removed;
      made.object = at;
      at = nullptr;
    } else {
      made.type = at ? change_type::updated : change_type::created;
      made.object = at = of_pod ? pod(name) : volume(name);
    }
    graph.take({made});
  }

  bool uses_claim(const std::string& node, const std::string& claim) const {
    for (const auto& [name, object] : objects)
      if (object && name.starts_with("pod ") && object->as<Pod>().spec().node_name() == node)
        for (const auto& volume : object->as<Pod>().spec().volumes())
          if (volume.volume_source().persistent_volume_claim().claim_name() == claim) return true;
    return false;
  }
  bool uses_secret(const std::string& node, const std::string& secret) const {
    for (const auto& [name, object] : objects) {
      if (!object) continue;
      if (name.starts_with("pod ") && object->as<Pod>().spec().node_name() == node)
        for (const auto& volume : object->as<Pod>().spec().volumes())
          if (volume.volume_source().secret().secret_name() == secret) return true;
      if (!name.starts_with("volume ")) continue;
      const auto& spec = object->as<PersistentVolume>().spec();
      if (spec.persistent_volume_source().csi().node_stage_secret_ref().name() == secret &&
          !spec.claim_ref().name().empty() && uses_claim(node, spec.claim_ref().name()))
        return true;
    }
    return false;
  }
  bool uses_map(const std::string& node, const std::string& map) const {
    for (const auto& [name, object] : objects)
      if (object && name.starts_with("pod ") && object->as<Pod>().spec().node_name() == node)
        for (const auto& each : object->as<Pod>().spec().ephemeral_containers())
          for (const auto& from : each.ephemeral_container_common().env_from())
            if (from.config_map_ref().local_object_reference().name() == map) return true;
    return false;
  }
};

}  // namespace

TEST_CASE(
    "after any bindings and removals, the index of a node's objects equals a scan of all pods",
    "[access]") {
  std::size_t used = 0, unused = 0;
  for_each_seed(300, [&](std::uint64_t seed) {
    world state{seed};
    for (int round = 0; round < 40; ++round) {
      state.write();
      for (const auto& node : {"n0", "n1", "n2"})
        for (const auto& name : {"a", "b", "c", "z"}) {
          const auto check = [&](const api::kind_info& kind, bool expected) {
            INFO(node << " " << kind.kind() << " " << name);
            REQUIRE(state.graph.uses(node, kind.key("ns", name)) == expected);
            (expected ? used : unused) += 1;
          };
          check(api::kind_of<Secret>(), state.uses_secret(node, name));
          check(api::kind_of<PersistentVolumeClaim>(), state.uses_claim(node, name));
          check(api::kind_of<ConfigMap>(), state.uses_map(node, name));
        }
    }
    // Unreferenced objects must take no memory.
    for (auto& [name, object] : state.objects) {
      change gone;
      gone.type = change_type::removed;
      gone.object = object;
      if (object) state.graph.take({gone});
    }
    REQUIRE(state.graph.size() == 0);
  });
  CHECK(used > 1'000);
  CHECK(unused > 1'000);
}

}  // namespace troupe::test
