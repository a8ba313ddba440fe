// Claims and volumes in a simulated cluster: bindings are checked at each step, while actors crash,
// messages are late and transactions conflict.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "actors/core/finalizers.hpp"
#include "actors/volumes/claim_rules.hpp"
#include "actors/volumes/defaults.hpp"
#include "api/schema/core_event.pb.h"
#include "support/nodes.hpp"
#include "support/seeds.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using namespace actors::volumes;
using api::core::v1::Event;
using std::chrono::seconds;

namespace {

PersistentVolumeClaim claim_named(const std::string& name, const char* storage_class,
                                  const char* size = "1Gi") {
  PersistentVolumeClaim claim;
  claim.mutable_metadata()->set_name(name);
  claim.mutable_metadata()->set_namespace_("default");
  claim.mutable_spec()->add_access_modes("ReadWriteOnce");
  (*claim.mutable_spec()->mutable_resources()->mutable_requests())["storage"].set_string(size);
  if (storage_class != nullptr) claim.mutable_spec()->set_storage_class_name(storage_class);
  return claim;
}

PersistentVolume volume_named(const std::string& name, const char* size,
                              const char* storage_class = "") {
  PersistentVolume volume;
  volume.mutable_metadata()->set_name(name);
  auto& spec = *volume.mutable_spec();
  spec.add_access_modes("ReadWriteOnce");
  (*spec.mutable_capacity())["storage"].set_string(size);
  spec.set_storage_class_name(storage_class);
  spec.mutable_persistent_volume_source()->mutable_host_path()->set_path("/srv");
  return volume;
}

StorageClass class_named(const std::string& name, const char* mode) {
  StorageClass made;
  made.mutable_metadata()->set_name(name);
  made.set_provisioner(defaults::local_path);
  made.set_volume_binding_mode(mode);
  made.set_allow_volume_expansion(true);
  return made;
}

api::core::v1::Pod pod_with(const std::string& name, const std::string& claim) {
  auto pod = pod_named(name);
  auto& volume = *pod.mutable_spec()->add_volumes();
  volume.set_name("data");
  volume.mutable_volume_source()->mutable_persistent_volume_claim()->set_claim_name(claim);
  return pod;
}

api::core::v1::Pod pod_with_scratch(const std::string& name) {
  auto pod = pod_named(name);
  auto& volume = *pod.mutable_spec()->add_volumes();
  volume.set_name("scratch");
  *volume.mutable_volume_source()
       ->mutable_ephemeral()
       ->mutable_volume_claim_template()
       ->mutable_spec() = claim_named("x", "later").spec();
  return pod;
}

class storage {
 public:
  explicit storage(std::uint64_t seed, cluster_options options = {}) : c{seed, options} {
    add_node(c, "n1");
    add_node(c, "n2");
    c.create(class_named("now", "Immediate"));
    c.create(class_named("later", "WaitForFirstConsumer"));
  }

  std::string phase(const std::string& claim) const {
    const auto found = c.find<PersistentVolumeClaim>("default", claim);
    return found ? found->as<PersistentVolumeClaim>().status().phase() : "";
  }
  std::string volume_of(const std::string& claim) const {
    return c.get<PersistentVolumeClaim>("default", claim).spec().volume_name();
  }
  std::string phase_of_volume(const std::string& name) const {
    const auto found = c.find<PersistentVolume>({}, name);
    return found ? found->as<PersistentVolume>().status().phase() : "";
  }
  std::string node_of_pod(const std::string& name) const {
    return c.get<api::core::v1::Pod>("default", name).spec().node_name();
  }
  bool said(const std::string& reason) const {
    for (const auto& each : c.list<Event>())
      if (each->as<Event>().reason() == reason) return true;
    return false;
  }
  bool reaches(const std::function<bool()>& done) {
    for (int i = 0; i < 120 && !done(); ++i)
      round();
    return done();
  }
  void round() {
    for (const auto* node : {"n1", "n2"})
      renew_lease(c, node);
    run_kubelets(c);
    remove_directories();
    look();
    while (c.simulation().step())
      look();
    c.advance(seconds{1});
    look();
  }

  // No volume has two claims, no claim two volumes.
  void look() const {
    std::map<std::string, std::string> claim_of;  // uid of a claim, by the volume in its spec
    std::set<std::string> named;
    for (const auto& each : c.list<PersistentVolumeClaim>()) {
      const auto& claim = each->as<PersistentVolumeClaim>();
      if (!is_bound(claim)) continue;
      CHECK(named.insert(claim.spec().volume_name()).second);
      claim_of[claim.spec().volume_name()] = claim.metadata().uid();
    }
    std::set<std::string> claims;
    for (const auto& each : c.list<PersistentVolume>()) {
      const auto& volume = each->as<PersistentVolume>();
      if (volume.status().phase() != "Bound") continue;
      CHECK(claims.insert(volume.spec().claim_ref().uid()).second);
      const auto found = claim_of.find(volume.metadata().name());
      if (found != claim_of.end()) CHECK(found->second == volume.spec().claim_ref().uid());
    }
  }

  mutable cluster c;

 private:
  // Plays the kubelets (actors/kubelet/workers/volume_remover.hpp).
  void remove_directories() {
    for (const auto& each : c.list<PersistentVolume>()) {
      const auto& volume = each->as<PersistentVolume>();
      if (!actors::has_pending_finalizer(each->meta(), defaults::local_path_finalizer) ||
          volume.status().phase() == "Bound")
        continue;
      c.change<PersistentVolume>({}, volume.metadata().name(), [](PersistentVolume& body) {
        actors::set_finalizer(*body.mutable_metadata(), defaults::local_path_finalizer, false);
      });
    }
  }
};

}  // namespace

TEST_CASE("a claim of immediate binding gets a volume on a node at once, and its pod follows it",
          "[volumes]") {
  storage s{1};
  s.c.create(claim_named("data", "now"));
  REQUIRE(s.reaches([&] { return s.phase("data") == "Bound"; }));
  const auto volume = s.c.get<PersistentVolume>({}, s.volume_of("data"));
  CHECK(volume.metadata().name() ==
        "pvc-" + s.c.get<PersistentVolumeClaim>("default", "data").metadata().uid());
  CHECK(s.said("ProvisioningSucceeded"));
  s.c.create(pod_with("web", "data"));
  REQUIRE(s.reaches([&] { return !s.node_of_pod("web").empty(); }));
  CHECK(s.node_of_pod("web") == node_of(volume));
}

TEST_CASE("a claim that waits for its first consumer gets a volume on the node of that",
          "[volumes]") {
  storage s{2};
  s.c.create(claim_named("data", "later"));
  for (int i = 0; i < 3; ++i)
    s.round();
  CHECK(s.phase("data") == "Pending");
  CHECK(s.said("WaitForFirstConsumer"));
  s.c.create(pod_with("web", "data"));
  REQUIRE(s.reaches([&] { return !s.node_of_pod("web").empty(); }));
  CHECK(s.phase("data") == "Bound");
  CHECK(s.node_of_pod("web") == node_of(s.c.get<PersistentVolume>({}, s.volume_of("data"))));
}

TEST_CASE("a pod waits for its volume as long as its profile says",
          "[volumes][scheduler][scheduler-config]") {
  cluster_options options;
  options.plane.scheduler_profiles.front().arguments.volume_timeout = seconds{30};
  storage s{9, options};
  auto slow = class_named("slow", "WaitForFirstConsumer");
  slow.set_provisioner("example.com/nobody");
  s.c.create(slow);
  s.c.create(claim_named("data", "slow"));
  s.c.create(pod_with("web", "data"));
  const auto gave_up = [&] {
    const auto events = s.c.list<Event>();
    return std::any_of(events.begin(), events.end(), [](const api::object_ptr& each) {
      return each->as<Event>().message().ends_with("binding volumes: context deadline exceeded");
    });
  };
  for (int i = 0; i < 25; ++i)
    s.round();
  CHECK_FALSE(gave_up());
  REQUIRE(s.reaches(gave_up));
  CHECK(s.node_of_pod("web").empty());
  CHECK(s.phase("data") == "Pending");
}

TEST_CASE("a manually created volume is bound to a matching claim, and kept after it",
          "[volumes]") {
  storage s{3};
  s.c.create(volume_named("large", "10Gi"));
  s.c.create(volume_named("small", "2Gi"));
  for (const char* each : {"large", "small"})
    REQUIRE(s.reaches([&] { return s.phase_of_volume(each) == "Available"; }));
  s.c.create(claim_named("data", ""));
  REQUIRE(s.reaches([&] { return s.phase("data") == "Bound"; }));
  CHECK(s.volume_of("data") == "small");
  s.c.remove<PersistentVolumeClaim>("default", "data");
  REQUIRE(s.reaches([&] { return s.phase_of_volume("small") == "Released"; }));
  CHECK(s.phase_of_volume("large") == "Available");
  // It is not given to another claim: no node has removed its directory.
  s.c.create(claim_named("data", ""));
  REQUIRE(s.reaches([&] { return s.phase("data") == "Bound"; }));
  CHECK(s.volume_of("data") == "large");
}

TEST_CASE("a claim goes when its last pod has gone, and its volume with it", "[volumes]") {
  storage s{4};
  s.c.create(claim_named("data", "now"));
  s.c.create(pod_with("web", "data"));
  REQUIRE(s.reaches([&] { return !s.node_of_pod("web").empty(); }));
  const auto volume = s.volume_of("data");
  s.c.remove<PersistentVolumeClaim>("default", "data");
  for (int i = 0; i < 5; ++i)
    s.round();
  CHECK(s.phase("data") == "Bound");
  s.c.remove<api::core::v1::Pod>("default", "web", 0);
  REQUIRE(s.reaches([&] { return s.phase("data").empty(); }));
  CHECK(s.reaches([&] { return !s.c.find<PersistentVolume>({}, volume); }));
}

TEST_CASE("a bound volume that is deleted stays until it is bound no more", "[volumes]") {
  storage s{5};
  s.c.create(volume_named("disk", "2Gi"));
  s.c.create(claim_named("data", ""));
  REQUIRE(s.reaches([&] { return s.phase("data") == "Bound"; }));
  s.c.remove<PersistentVolume>({}, "disk");
  for (int i = 0; i < 5; ++i)
    s.round();
  CHECK(s.phase_of_volume("disk") == "Bound");
  s.c.remove<PersistentVolumeClaim>("default", "data");
  CHECK(s.reaches([&] { return !s.c.find<PersistentVolume>({}, "disk"); }));
}

TEST_CASE("an ephemeral volume has a claim of its own that goes with its pod", "[volumes]") {
  storage s{6};
  s.c.create(pod_with_scratch("web"));
  REQUIRE(s.reaches([&] { return !s.node_of_pod("web").empty(); }));
  CHECK(s.phase("web-scratch") == "Bound");
  s.c.remove<api::core::v1::Pod>("default", "web", 0);
  CHECK(s.reaches([&] { return s.phase("web-scratch").empty(); }));
  CHECK(s.reaches([&] { return s.c.count<PersistentVolume>() == 0; }));
}

TEST_CASE("a pod that is deleted after its dependents does not keep its ephemeral claim",
          "[volumes]") {
  storage s{8};
  s.c.create(pod_with_scratch("web"));
  REQUIRE(s.reaches([&] { return !s.node_of_pod("web").empty(); }));
  s.c.remove<api::core::v1::Pod>("default", "web", 0, "Foreground");
  REQUIRE(s.c.find<api::core::v1::Pod>("default", "web"));
  CHECK(s.reaches([&] { return !s.c.find<api::core::v1::Pod>("default", "web"); }));
  CHECK(s.phase("web-scratch").empty());
}

TEST_CASE("a claim that asks for more gets more where its class allows it", "[volumes]") {
  storage s{7};
  s.c.create(claim_named("data", "now"));
  REQUIRE(s.reaches([&] { return s.phase("data") == "Bound"; }));
  s.c.change<PersistentVolumeClaim>("default", "data", [](PersistentVolumeClaim& claim) {
    (*claim.mutable_spec()->mutable_resources()->mutable_requests())["storage"].set_string("3Gi");
  });
  CHECK(s.reaches([&] {
    return s.c.get<PersistentVolumeClaim>("default", "data")
               .status()
               .capacity()
               .at("storage")
               .string() == "3Gi";
  }));
  CHECK(capacity(s.c.get<PersistentVolume>({}, s.volume_of("data"))) ==
        *api::quantity::parse("3Gi"));
}

TEST_CASE("despite crashes and conflicts each claim gets one volume, and no volume two claims",
          "[volumes][seeds]") {
  for_each_seed(20, [](std::uint64_t seed) {
    cluster_options options;
    options.plane.conflict_chance = 0.05;
    storage s{seed, options};
    std::mt19937_64 random{seed};
    runtime::fault_plan faults;
    faults.crash = 0.003;
    faults.delay = 0.1;
    s.c.simulation().faults(faults);
    const auto any = [&](auto... of) {
      const char* all[] = {of...};
      return all[random() % sizeof...(of)];
    };
    for (int i = 0; i < 4; ++i)
      s.c.create(volume_named("disk-" + std::to_string(i), any("1Gi", "2Gi"), any("", "later")));
    for (int i = 0; i < 12; ++i) {
      const auto name = "c" + std::to_string(i);
      s.c.create(claim_named(name, any("now", "later", "")));
      if (random() % 2 == 0) s.c.create(pod_with("p" + std::to_string(i), name));
      s.round();
      if (random() % 4 == 0 && i > 0) {
        const auto old = "c" + std::to_string(random() % static_cast<std::uint64_t>(i));
        if (s.c.find<PersistentVolumeClaim>("default", old))
          s.c.remove<PersistentVolumeClaim>("default", old);
      }
    }
    s.c.simulation().faults({});
    // All possible bindings exist: the rest waits for a pod, or for a volume without a class.
    CHECK(s.reaches([&] {
      for (const auto& each : s.c.list<PersistentVolumeClaim>())
        if (each->as<PersistentVolumeClaim>().spec().storage_class_name() == "now" &&
            each->as<PersistentVolumeClaim>().status().phase() != "Bound" &&
            !each->meta().has_deletion_timestamp())
          return false;
      for (const auto& each : s.c.list<PersistentVolume>())
        if (each->as<PersistentVolume>().status().phase() == "Pending") return false;
      return true;
    }));
  });
}

}  // namespace troupe::test
