// The schema against foreign bytes and names: the encoding of a typed Kubernetes client, and JSON
// names that do not follow from a rule.
#include <google/protobuf/unknown_field_set.h>

#include <catch2/catch.hpp>

#include "api/schema/core_v1.pb.h"
#include "api/schema/meta_v1.pb.h"
#include "api/schema/runtime.pb.h"
#include "api/schema_walk.hpp"

namespace troupe::api::testing {
namespace {

// A Pod as encoded by a typed Go client: fields that are no pointers are sent although they are not
// set. Made with protoc from upstream's own description of core/v1 (1.36).
constexpr std::string_view recorded =
    "6b3873000a090a0276311203506f6412fe030a5b0a0377656212001a0473686f7022002a0436663163320038"
    "0042005a0a0a0361707012037765626a260a155265706c69636174696f6e436f6e74726f6c6c65721a037765"
    "62220237372a0276313001720a73686f702f647261696e12ba020a1a0a04636f6e6612129a010f0a0a0a0877"
    "65622d636f6e6618a403129d010a056e67696e78120a6e67696e783a312e32352a0032110a04687474701000"
    "185022035443502a003a130a034b455912001a0a22080a030a017312016b420f120d0a0363707512060a0431"
    "30306d4a160a04636f6e6610011a0a2f6574632f6e67696e78220052250a1912170a012f120a080110001a04"
    "687474701a00220448545450100518002000280030006a007200800100880100900100a201001a0020003200"
    "52066e6f64652d37580092012e1a2c0a2a0a10120e0a036170701202496e1a037765621a166b756265726e65"
    "7465732e696f2f686f73746e616d659a0100b2011a0a016b12064578697374731a0022094e6f457865637574"
    "652800f001018a0217080112047a6f6e651a0d446f4e6f745363686564756c651a620a0752756e6e696e671a"
    "00320831302e312e302e393a080880e2cfaa06100042350a056e67696e78120a12080a060881e2cfaa062001"
    "2803320a6e67696e783a312e32353a00420e636f6e7461696e6572643a2f2f31620a0a0831302e312e302e39"
    "1a002200";

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

// The number of fields, at any depth, that the schema does not know.
int unknown_fields(const google::protobuf::Message& message) {
  const auto* reflection = message.GetReflection();
  int count = reflection->GetUnknownFields(message).field_count();
  std::vector<const FieldDescriptor*> present;
  reflection->ListFields(message, &present);
  for (const auto* field : present) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      count += unknown_fields(reflection->GetMessage(message, field));
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(message, field); ++i)
      count += unknown_fields(reflection->GetRepeatedMessage(message, field, i));
  }
  return count;
}

const Descriptor& message_named(const std::string& name) {
  const auto* found = google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(
      "troupe.api." + name);
  REQUIRE(found != nullptr);
  return *found;
}

}  // namespace

TEST_CASE("a pod from a typed client is read field by field") {
  const std::string bytes = from_hex(recorded);
  REQUIRE(bytes.substr(0, 4) == std::string("k8s\0", 4));
  runtime::Unknown envelope;
  REQUIRE(envelope.ParseFromString(bytes.substr(4)));
  CHECK(envelope.type_meta().api_version() == "v1");
  CHECK(envelope.type_meta().kind() == "Pod");
  core::v1::Pod pod;
  REQUIRE(pod.ParseFromString(envelope.raw()));
  CHECK(unknown_fields(envelope) + unknown_fields(pod) == 0);

  SECTION("metadata") {
    const auto& meta = pod.metadata();
    CHECK(meta.name() == "web");
    CHECK(meta.namespace_() == "shop");
    CHECK(meta.uid() == "6f1c");
    CHECK(meta.labels().at("app") == "web");
    CHECK(meta.finalizers(0) == "shop/drain");
    REQUIRE(meta.owner_references_size() == 1);
    CHECK(meta.owner_references(0).api_version() == "v1");
    CHECK(meta.owner_references(0).kind() == "ReplicationController");
    CHECK(meta.owner_references(0).uid() == "77");
    CHECK(meta.owner_references(0).controller());
    CHECK(meta.has_creation_timestamp());
    CHECK_FALSE(meta.creation_timestamp().has_seconds());
  }
  SECTION("containers") {
    const auto& nginx = pod.spec().containers(0);
    CHECK(nginx.image() == "nginx:1.25");
    CHECK(nginx.ports(0).name() == "http");
    CHECK(nginx.ports(0).container_port() == 80);
    CHECK(nginx.ports(0).protocol() == "TCP");
    CHECK(nginx.resources().requests().at("cpu").string() == "100m");
    CHECK(nginx.volume_mounts(0).mount_path() == "/etc/nginx");
    CHECK(nginx.volume_mounts(0).read_only());
    CHECK(nginx.liveness_probe().initial_delay_seconds() == 5);
    CHECK(nginx.liveness_probe().handler().http_get().port().str_val() == "http");
    CHECK(nginx.liveness_probe().handler().http_get().scheme() == "HTTP");
    const auto& secret = nginx.env(0).value_from().secret_key_ref();
    CHECK(secret.local_object_reference().name() == "s");
    CHECK(secret.key() == "k");
  }
  SECTION("the rest of the spec") {
    const auto& spec = pod.spec();
    const auto& source = spec.volumes(0).volume_source().config_map();
    CHECK(source.local_object_reference().name() == "web-conf");
    CHECK(source.default_mode() == 420);
    CHECK(spec.node_name() == "node-7");
    CHECK(spec.enable_service_links());
    CHECK(spec.tolerations(0).effect() == "NoExecute");
    CHECK(spec.tolerations(0).has_toleration_seconds());
    CHECK(spec.topology_spread_constraints(0).when_unsatisfiable() == "DoNotSchedule");
    const auto& term =
        spec.affinity().pod_anti_affinity().required_during_scheduling_ignored_during_execution(0);
    CHECK(term.topology_key() == "kubernetes.io/hostname");
    CHECK(term.label_selector().match_expressions(0).values(0) == "web");
  }
  SECTION("status") {
    CHECK(pod.status().phase() == "Running");
    CHECK(pod.status().pod_ip() == "10.1.0.9");
    CHECK(pod.status().pod_ips(0).ip() == "10.1.0.9");
    CHECK(pod.status().start_time().seconds() == 1700000000);
    const auto& nginx = pod.status().container_statuses(0);
    CHECK(nginx.state().running().started_at().seconds() == 1700000001);
    CHECK(nginx.ready());
    CHECK(nginx.restart_count() == 3);
    CHECK(nginx.container_id() == "containerd://1");
  }
}

TEST_CASE("zero and absent differ exactly where they do for Go clients") {
  const std::pair<const char*, const char*> told[] = {
      {"core.v1.ReplicationControllerSpec", "replicas"},
      {"core.v1.PodSpec", "terminationGracePeriodSeconds"},
      {"core.v1.Toleration", "tolerationSeconds"},
      {"core.v1.ConfigMapKeySelector", "optional"},
      {"core.v1.PersistentVolumeClaimSpec", "storageClassName"},
      {"meta.v1.DeleteOptions", "gracePeriodSeconds"},
  };
  for (const auto& [message, field] : told) {
    INFO(message << " " << field);
    CHECK(rule_of(*find_json(message_named(message), field)).presence());
  }
  const std::pair<const char*, const char*> not_told[] = {
      {"core.v1.Probe", "periodSeconds"},   {"core.v1.ContainerPort", "hostPort"},
      {"core.v1.PodSpec", "restartPolicy"}, {"core.v1.PodSpec", "hostNetwork"},
      {"meta.v1.ObjectMeta", "generation"}, {"autoscaling.v1.ScaleSpec", "replicas"},
      {"core.v1.ContainerStatus", "ready"},
  };
  for (const auto& [message, field] : not_told) {
    INFO(message << " " << field);
    CHECK_FALSE(rule_of(*find_json(message_named(message), field)).presence());
  }
}

TEST_CASE("JSON names that do not follow from the field's name") {
  const std::pair<const char*, std::vector<const char*>> odd[] = {
      {"core.v1.PodSpec", {"hostIPC", "hostPID", "setHostnameAsFQDN", "dnsConfig"}},
      {"core.v1.PodStatus", {"hostIP", "hostIPs", "podIP", "podIPs", "qosClass"}},
      {"core.v1.ContainerStatus", {"containerID", "imageID"}},
      {"core.v1.ContainerPort", {"hostIP"}},
      {"core.v1.NodeSpec", {"podCIDR", "podCIDRs", "providerID", "externalID"}},
      {"core.v1.NodeSystemInfo", {"machineID", "systemUUID", "bootID", "osImage"}},
      {"core.v1.DaemonEndpoint", {"Port"}},
      {"core.v1.ServiceSpec",
       {"clusterIP", "clusterIPs", "externalIPs", "loadBalancerIP", "ipFamilies"}},
      {"core.v1.SessionAffinityConfig", {"clientIP"}},
      // Through inlined messages.
      {"core.v1.Volume", {"downwardAPI", "cephfs", "scaleIO", "storageos", "awsElasticBlockStore"}},
      {"core.v1.Probe", {"httpGet", "tcpSocket", "grpc", "exec"}},
      {"core.v1.EphemeralContainer", {"name", "targetContainerName"}},
      {"core.v1.SecretKeySelector", {"name", "key", "optional"}},
      {"core.v1.AzureDiskVolumeSource", {"diskURI"}},
      {"core.v1.FCVolumeSource", {"targetWWNs", "wwids"}},
      {"core.v1.AWSElasticBlockStoreVolumeSource", {"volumeID"}},
      {"core.v1.ISCSIVolumeSource", {"chapAuthDiscovery", "iqn"}},
      {"meta.v1.ObjectMeta", {"uid", "selfLink", "generateName"}},
      {"meta.v1.OwnerReference", {"apiVersion", "blockOwnerDeletion"}},
      {"meta.v1.ManagedFieldsEntry", {"fieldsV1", "fieldsType"}},
      {"meta.v1.ListMeta", {"continue", "remainingItemCount"}},
      {"meta.v1.APIGroup", {"serverAddressByClientCIDRs"}},
      {"meta.v1.StatusCause", {"reason"}},
      {"authorization.v1.NonResourceRule", {"nonResourceURLs"}},
      {"rbac.v1.PolicyRule", {"apiGroups", "resourceNames", "nonResourceURLs"}},
  };
  for (const auto& [message, names] : odd)
    for (const char* name : names) {
      INFO(message << " " << name);
      CHECK(find_json(message_named(message), name) != nullptr);
    }
}

}  // namespace troupe::api::testing
