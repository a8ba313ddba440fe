// How fast the codecs are on a pod of three kilobytes, and what such a pod takes in memory.
#include <google/protobuf/message.h>
#include <malloc.h>

#include <catch2/catch.hpp>
#include <cstdio>

#include "api/codec.hpp"
#include "api/list.hpp"
#include "api/object.hpp"
#include "api/random_message.hpp"
#include "api/schema/core_v1.pb.h"
#include "api/scheme.hpp"
#include "support/cpu_time.hpp"

namespace troupe::api {
namespace {

// As a client would post it and a kubelet would report on it: about 3 KB of JSON.
constexpr std::string_view typical_pod = R"({"kind":"Pod","apiVersion":"v1","metadata":{
"name":"frontend-7d8f9c6b54-x2x7k","generateName":"frontend-7d8f9c6b54-","namespace":"production",
"uid":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0","resourceVersion":"184467",
"creationTimestamp":"2026-03-01T12:34:56Z","labels":{"app":"guestbook","tier":"frontend",
"pod-template-hash":"7d8f9c6b54"},"annotations":{"kubernetes.io/config.seen":"2026-03-01T12:34:56Z",
"kubernetes.io/config.source":"api"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet",
"name":"frontend-7d8f9c6b54","uid":"aabbccdd-eeff-0011-2233-445566778899","controller":true,
"blockOwnerDeletion":true}]},"spec":{"volumes":[{"name":"config","configMap":{"name":"frontend-config",
"defaultMode":420}},{"name":"scratch","emptyDir":{}}],"containers":[{"name":"php-redis",
"image":"registry.example/samples/guestbook-php-redis:v4","command":["/bin/server","--listen=:8080"],
"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"env":[{"name":"GET_HOSTS_FROM",
"value":"dns"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1",
"fieldPath":"metadata.name"}}}],"resources":{"limits":{"cpu":"500m","memory":"256Mi"},
"requests":{"cpu":"100m","memory":"100Mi"}},"volumeMounts":[{"name":"config","mountPath":"/etc/app",
"readOnly":true},{"name":"scratch","mountPath":"/tmp"}],"livenessProbe":{"httpGet":{"path":"/healthz",
"port":8080,"scheme":"HTTP"},"initialDelaySeconds":5,"timeoutSeconds":1,"periodSeconds":10,
"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-log",
"terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always",
"terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default",
"serviceAccount":"default","nodeName":"worker-17","securityContext":{},"schedulerName":
"default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists",
"effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable",
"operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,
"enableServiceLinks":true},"status":{"phase":"Running","conditions":[{"type":"Initialized",
"status":"True","lastProbeTime":null,"lastTransitionTime":"2026-03-01T12:34:57Z"},{"type":"Ready",
"status":"True","lastProbeTime":null,"lastTransitionTime":"2026-03-01T12:35:02Z"},{
"type":"ContainersReady","status":"True","lastProbeTime":null,
"lastTransitionTime":"2026-03-01T12:35:02Z"},{"type":"PodScheduled","status":"True",
"lastProbeTime":null,"lastTransitionTime":"2026-03-01T12:34:56Z"}],"hostIP":"10.0.0.17","podIP":
"10.244.3.21","podIPs":[{"ip":"10.244.3.21"}],"startTime":"2026-03-01T12:34:57Z",
"containerStatuses":[{"name":"php-redis","state":{"running":{"startedAt":"2026-03-01T12:35:01Z"}},
"lastState":{},"ready":true,"restartCount":0,
"image":"registry.example/samples/guestbook-php-redis:v4","imageID":
"registry.example/samples/guestbook-php-redis@sha256:0123456789abcdef0123456789abcdef0123456789abcdef",
"containerID":"containerd://fedcba9876543210fedcba9876543210","started":true}],"qosClass":"Burstable"}}
)";

// Calls `work` for about half a second; prints and gives megabytes of JSON a second.
template <class Work>
double megabytes_per_second(const char* what, std::size_t size_bytes, const Work& work) {
  for (int i = 0; i < 200; ++i)
    work();
  const double start = test::cpu_seconds();
  int rounds = 0;
  double took = 0;
  for (; took < 0.5; took = test::cpu_seconds() - start, rounds += 100)
    for (int i = 0; i < 100; ++i)
      work();
  const double rate = static_cast<double>(size_bytes) * rounds / took / 1e6;
  std::printf("%-34s %8.0f MB/s %10.2f us\n", what, rate, took / rounds * 1e6);
  return rate;
}

std::size_t allocated_bytes() {
  return mallinfo2().uordblks;
}

}  // namespace

TEST_CASE("the codecs keep up with the disk", "[.bench]") {
  const kind_info& kind = kind_of<core::v1::Pod>();
  const auto pod = decode(typical_pod, media::json, &kind);
  REQUIRE(pod);
  const std::string json = encode_json(*pod->content, "v1", "Pod");
  const std::string protobuf = encode_protobuf(*pod->content, "v1", "Pod");
  const std::string yaml = encode_yaml(*pod->content, "v1", "Pod");
  std::printf("pod: %zu bytes of JSON, %zu of protobuf, %zu of YAML\n", json.size(),
              protobuf.size(), yaml.size());
  decode_options strict;
  strict.fields = field_validation::strict;
  std::size_t sum = 0;
  const double in = megabytes_per_second("JSON decode", json.size(), [&] {
    sum += decode(json, media::json, &kind)->content != nullptr;
  });
  megabytes_per_second("JSON decode, strict", json.size(), [&] {
    sum += decode(json, media::json, &kind, strict)->content != nullptr;
  });
  const double out = megabytes_per_second(
      "JSON encode", json.size(), [&] { sum += encode_json(*pod->content, "v1", "Pod").size(); });
  megabytes_per_second("protobuf decode", protobuf.size(), [&] {
    sum += decode(protobuf, media::protobuf, &kind)->content != nullptr;
  });
  megabytes_per_second("protobuf encode", protobuf.size(),
                       [&] { sum += encode_protobuf(*pod->content, "v1", "Pod").size(); });
  megabytes_per_second("storage decode", protobuf.size(),
                       [&] { sum += object::from_storage(kind, protobuf, 1).value()->revision(); });
  megabytes_per_second("storage encode", protobuf.size(),
                       [&] { sum += to_storage(kind, *pod->content).size(); });
  megabytes_per_second("YAML decode", yaml.size(),
                       [&] { sum += decode(yaml, media::yaml, &kind)->content != nullptr; });
  REQUIRE(sum != 0);
  CHECK(in >= 150);
  CHECK(out >= 150);
}

TEST_CASE("a typical pod takes a few kilobytes of memory", "[.bench]") {
  const kind_info& kind = kind_of<core::v1::Pod>();
  const auto pod = decode(typical_pod, media::json, &kind);
  REQUIRE(pod);
  const std::string stored = to_storage(kind, *pod->content);
  constexpr int count = 1000;
  std::vector<object_ptr> objects;
  objects.reserve(count);
  const std::size_t empty = allocated_bytes();
  for (int i = 0; i < count; ++i)
    objects.push_back(*object::from_storage(kind, stored, i + 1));
  const std::size_t decoded_only = allocated_bytes();
  for (const auto& each : objects)
    each->json();
  const std::size_t with_json = allocated_bytes();
  std::printf("object: %zu bytes decoded, %zu more with its JSON (%zu stored)\n",
              (decoded_only - empty) / count, (with_json - decoded_only) / count, stored.size());
  std::string list;
  append_list_json(list, {"v1", "PodList", "1", {}, {}}, objects);
  megabytes_per_second("list of 1,000 encoded pods", list.size(), [&] {
    list.clear();
    append_list_json(list, {"v1", "PodList", "1", {}, {}}, objects);
  });
}

}  // namespace troupe::api
