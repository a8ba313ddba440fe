// The plugins for claims, volumes and images, each by a table.
#include <catch2/catch.hpp>
#include <random>

#include "actors/core/labels.hpp"
#include "actors/scheduler/algorithm.hpp"
#include "actors/volumes/claim_rules.hpp"
#include "actors/volumes/defaults.hpp"
#include "builders.hpp"

namespace troupe::actors::scheduler {

namespace {

using volumes::PersistentVolume;
using volumes::PersistentVolumeClaim;
using volumes::StorageClass;

struct volume_bench {
  std::unique_ptr<profile> with = *profile::make(*built_in_profile("today"));
  algorithm chooser{*with};
  cluster_view view;
  std::mt19937_64 random{909};

  volume_bench() {
    node("n1", "a");
    node("n2", "b");
    view.volumes().put(
        parse<StorageClass>("metadata: {name: later}\nprovisioner: local-path.troupe.dev\n"
                            "volumeBindingMode: WaitForFirstConsumer\n"));
    view.volumes().put(
        parse<StorageClass>("metadata: {name: disks}\nprovisioner: kubernetes.io/no-provisioner\n"
                            "volumeBindingMode: WaitForFirstConsumer\n"));
  }

  void node(const std::string& name, const std::string& zone) {
    view.put_node(make_node(
        name, "{kubernetes.io/hostname: " + name + ", topology.kubernetes.io/zone: " + zone + "}"));
  }
  void claim(const std::string& name, const std::string& spec, const std::string& meta = {},
             const std::string& phase = "Pending") {
    view.volumes().put(parse<PersistentVolumeClaim>(
        "metadata: {name: " + name + ", namespace: a, uid: " + name + "-uid" + meta +
            "}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}" + spec +
            "}\nstatus: {phase: " + phase + "}\n",
        ++revision));
  }
  void bound_claim(const std::string& name, const std::string& volume) {
    claim(name, ", volumeName: " + volume,
          ", annotations: {pv.kubernetes.io/bind-completed: \"yes\"}", "Bound");
  }
  // Reachable only from `node`, unless that is empty.
  void volume(const std::string& name, const std::string& node, const std::string& spec = {},
              const std::string& labels = "{}") {
    const auto affinity =
        node.empty() ? ""
                     : ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
                       "kubernetes.io/hostname, operator: In, values: [" +
                           node + "]}]}]}}";
    view.volumes().put(
        parse<PersistentVolume>("metadata: {name: " + name + ", labels: " + labels +
                                    "}\nspec: {accessModes: [ReadWriteOnce], capacity: {storage: "
                                    "2Gi}, hostPath: {path: /x}" +
                                    affinity + spec + "}\nstatus: {phase: Available}\n",
                                ++revision));
  }
  pod_info_ptr pod(const std::string& name, const std::string& claim) {
    return make_pod(name,
                    "{volumes: [{name: v, persistentVolumeClaim: {claimName: " + claim + "}}]}");
  }
  std::string place(const pod_info_ptr& pod) {
    auto found = chooser.schedule(pod, view, random);
    if (found) return *found;
    const auto& text = found.error().message;
    return text.substr(0, text.find(" preemption:"));
  }
  preparation prepare(const pod_info_ptr& pod, const std::string& node, bool again = false) {
    return with->pre_binders().front()->pre_bind(*pod, *view.find(node), view, again);
  }
  std::uint64_t revision = 1;
};

const std::string nowhere = "0/2 nodes are available: ";

}  // namespace

TEST_CASE("a pod goes where the volumes of its bound claims are", "[scheduler][volumes]") {
  volume_bench b;
  b.bound_claim("c", "v");
  CHECK(b.place(b.pod("p", "c")) ==
        nowhere + "2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s).");
  b.volume("v", "n2");
  CHECK(b.place(b.pod("p", "c")) == "n2");
  CHECK(b.prepare(b.pod("p", "c"), "n2").ready);
  b.volume("v", "n3");
  CHECK(b.place(b.pod("p", "c")) == nowhere + "2 node(s) had volume node affinity conflict.");
  CHECK_FALSE(b.prepare(b.pod("p", "c"), "n2").result.ok());
}

TEST_CASE("the message of an unschedulable pod names the problem of its claim",
          "[scheduler][volumes]") {
  volume_bench b;
  CHECK(b.place(b.pod("p", "c")) == nowhere + "persistentvolumeclaim \"c\" not found.");
  b.claim("c", "");
  CHECK(b.place(b.pod("p", "c")) == nowhere + "pod has unbound immediate PersistentVolumeClaims.");
  b.claim("c", ", volumeName: v", "", "Lost");
  CHECK(b.place(b.pod("p", "c")) ==
        nowhere + "persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"v\".");
  b.claim("c", "", ", deletionTimestamp: \"2026-01-01T00:00:00Z\"");
  CHECK(b.place(b.pod("p", "c")) == nowhere + "persistentvolumeclaim \"c\" is being deleted.");
  CHECK(b.place(make_pod("p",
                         "{volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {}}}}]}")) ==
        nowhere +
            "waiting for ephemeral volume controller to create the persistentvolumeclaim "
            "\"p-v\".");
}

TEST_CASE("a claim that waits for its pod is given a volume of its node, or one is made there",
          "[scheduler][volumes]") {
  volume_bench b;
  b.claim("c", ", storageClassName: disks");
  CHECK(b.place(b.pod("p", "c")) ==
        nowhere + "2 node(s) didn't find available persistent volumes to bind.");
  b.volume("v", "n1", ", storageClassName: disks");
  CHECK(b.place(b.pod("p", "c")) == "n1");
  const auto reserving = b.prepare(b.pod("p", "c"), "n1");
  CHECK_FALSE(reserving.ready);
  REQUIRE(reserving.writes.size() == 1);
  CHECK(reserving.writes.front().mutations.front().key == "/registry/persistentvolumes/v");
  b.view.volumes().promise("/registry/persistentvolumes/v");
  CHECK(b.place(b.pod("p", "c")) ==
        nowhere + "2 node(s) didn't find available persistent volumes to bind.");

  b.claim("d", ", storageClassName: later");
  const auto selecting = b.prepare(b.pod("p", "d"), "n2");
  REQUIRE(selecting.writes.size() == 1);
  const auto& noted = static_cast<const PersistentVolumeClaim&>(
      *selecting.writes.front().mutations.front().content);
  CHECK(annotation_of(noted.metadata(), volumes::defaults::selected_node) == "n2");
  // The binder has rejected the node: no volume can be made there.
  CHECK(b.prepare(b.pod("p", "d"), "n2", true).result.reason ==
        "provisioning failed for PVC \"d\"");
  b.claim("d", ", storageClassName: later",
          ", annotations: {volume.kubernetes.io/selected-node: n2}");
  CHECK(b.place(b.pod("p", "d")) == "n2");
  CHECK_FALSE(b.prepare(b.pod("p", "d"), "n2", true).ready);
  b.bound_claim("d", "v");
  b.volume("v", "");
  CHECK(b.prepare(b.pod("p", "d"), "n2", true).ready);
}

TEST_CASE("each volume that is reserved for a claim is known, until it is deleted",
          "[scheduler][volumes]") {
  volume_bench b;
  b.claim("c", ", storageClassName: disks");
  const std::string reserved =
      ", storageClassName: disks, claimRef: {kind: PersistentVolumeClaim, namespace: a, name: c}";
  b.volume("v", "n1", reserved);
  b.volume("w", "n2", reserved);
  CHECK(b.view.volumes().candidates(*b.view.volumes().claim("a", "c")).size() == 2);
  b.view.volumes().remove(*b.view.volumes().volume("w"));
  CHECK(b.place(b.pod("p", "c")) == "n1");
}

TEST_CASE("a pod goes into the zone of its volume", "[scheduler][volumes]") {
  volume_bench b;
  b.bound_claim("c", "v");
  b.volume("v", "", "", "{topology.kubernetes.io/zone: b__c}");
  CHECK(b.place(b.pod("p", "c")) == "n2");
  b.volume("v", "", "", "{topology.kubernetes.io/zone: d}");
  CHECK(b.place(b.pod("p", "c")) == nowhere + "2 node(s) had no available volume zone.");
}

TEST_CASE("a ReadWriteOncePod claim is used by one pod", "[scheduler][volumes]") {
  volume_bench b;
  b.volume("v", "");
  b.view.volumes().put(parse<PersistentVolumeClaim>(
      "metadata: {name: c, namespace: a, uid: u, annotations: {pv.kubernetes.io/bind-completed: "
      "\"yes\"}}\nspec: {accessModes: [ReadWriteOncePod], volumeName: v}\nstatus: {phase: "
      "Bound}\n"));
  CHECK(b.place(b.pod("p", "c")).starts_with("n"));
  b.view.put_pod(b.pod("q", "c"), "n1");
  CHECK(b.place(b.pod("p", "c"))
            .starts_with(nowhere + "2 node has pod using PersistentVolumeClaim with the same name "
                                   "and ReadWriteOncePod access mode."));
  b.view.remove_pod(b.pod("q", "c")->key);
  CHECK(b.place(b.pod("p", "c")).starts_with("n"));
}

TEST_CASE("a node takes as many volumes of a driver as it says", "[scheduler][volumes]") {
  volume_bench b;
  for (const auto* name : {"c", "d"}) {
    const std::string volume = std::string{"v"} + name;
    b.bound_claim(name, volume);
    b.view.volumes().put(parse<PersistentVolume>(
        "metadata: {name: " + volume +
        "}\nspec: {capacity: {storage: 1Gi}, csi: {driver: x.example.com, volumeHandle: " + volume +
        "}}\n"));
  }
  for (const auto* node : {"n1", "n2"})
    b.view.volumes().put(parse<api::storage::v1::CSINode>(
        std::string{"metadata: {name: "} + node +
        "}\nspec: {drivers: [{name: x.example.com, nodeID: n, allocatable: {count: 1}}]}\n"));
  b.view.put_pod(b.pod("q", "c"), "n1");
  CHECK(b.place(b.pod("p", "d")) == "n2");
  // The same volume counts only once.
  CHECK(b.place(b.pod("p", "c")).starts_with("n"));
  b.view.put_pod(b.pod("r", "c"), "n2");
  CHECK(b.place(b.pod("p", "d")) == nowhere + "2 node(s) exceed max volume count.");
}

TEST_CASE("a node that has the image of a pod is preferred", "[scheduler]") {
  volume_bench b;
  for (const auto* name : {"n1", "n2"})
    b.view.put_node(parse<api::core::v1::Node>(
        std::string{"metadata: {name: "} + name +
            "}\nstatus: {allocatable: {cpu: \"4\", memory: 8Gi, pods: \"110\"}, images: [" +
            (std::string{name} == "n2" ? "{names: [\"docker.io/db:latest\"], sizeBytes: 900000000}"
                                       : "") +
            "]}\n",
        9));
  for (int i = 0; i < 20; ++i)
    CHECK(b.place(make_pod("p", "{containers: [{name: c, image: docker.io/db}]}")) == "n2");
  REQUIRE(b.view.image("docker.io/db:latest") != nullptr);
  b.view.remove_node("n2");
  CHECK(b.view.image("docker.io/db:latest") == nullptr);
}

}  // namespace troupe::actors::scheduler
