#include "api/strategy/defaults.hpp"

#include <google/protobuf/util/message_differencer.h>

#include <catch2/catch.hpp>

#include "api/manifests.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/schema/core_service.pb.h"
#include "support/random_message.hpp"

using namespace troupe;
using namespace troupe::api;
using google::protobuf::util::MessageDifferencer;

namespace {

template <class T>
T defaulted(std::string_view yaml) {
  auto object = test::from_yaml<T>(yaml);
  set_defaults(kind_of<T>(), object);
  return object;
}

std::string pull_policy(const std::string& image) {
  core::v1::Pod pod;
  pod.mutable_spec()->add_containers()->set_image(image);
  set_defaults(kind_of<core::v1::Pod>(), pod);
  return pod.spec().containers(0).image_pull_policy();
}

}  // namespace

TEST_CASE("a pod gets the constants of the schema") {
  const auto pod = defaulted<core::v1::Pod>(R"(
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: c
    image: nginx:1.7.9
    ports: [{containerPort: 80}]
    livenessProbe: {httpGet: {port: 80}}
  volumes:
  - {name: s, secret: {secretName: x}}
  - {name: e}
)");
  const auto& spec = pod.spec();
  CHECK(spec.restart_policy() == "Always");
  CHECK(spec.dns_policy() == "ClusterFirst");
  CHECK(spec.scheduler_name() == "default-scheduler");
  CHECK(spec.termination_grace_period_seconds() == 30);
  CHECK(spec.enable_service_links());
  CHECK(spec.has_security_context());
  const auto& container = spec.containers(0);
  CHECK(container.termination_message_path() == "/dev/termination-log");
  CHECK(container.termination_message_policy() == "File");
  CHECK(container.ports(0).protocol() == "TCP");
  const auto& probe = container.liveness_probe();
  CHECK(probe.timeout_seconds() == 1);
  CHECK(probe.period_seconds() == 10);
  CHECK(probe.success_threshold() == 1);
  CHECK(probe.failure_threshold() == 3);
  CHECK(probe.handler().http_get().scheme() == "HTTP");
  CHECK(probe.handler().http_get().path() == "/");
  CHECK(spec.volumes(0).volume_source().secret().default_mode() == 0644);
  CHECK(spec.volumes(1).volume_source().has_empty_dir());
}

TEST_CASE("values set by the author are kept, zero included") {
  const auto pod = defaulted<core::v1::Pod>(R"(
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  terminationGracePeriodSeconds: 0
  enableServiceLinks: false
  restartPolicy: Never
  containers: [{name: c, image: x, imagePullPolicy: Never}]
)");
  CHECK(pod.spec().has_termination_grace_period_seconds());
  CHECK(pod.spec().termination_grace_period_seconds() == 0);
  CHECK_FALSE(pod.spec().enable_service_links());
  CHECK(pod.spec().restart_policy() == "Never");
  CHECK(pod.spec().containers(0).image_pull_policy() == "Never");
}

TEST_CASE("images without a tag or with latest are pulled always") {
  CHECK(pull_policy("nginx") == "Always");
  CHECK(pull_policy("nginx:latest") == "Always");
  CHECK(pull_policy("host:5000/nginx") == "Always");
  CHECK(pull_policy("nginx:1.7") == "IfNotPresent");
  CHECK(pull_policy("host:5000/nginx:1") == "IfNotPresent");
  CHECK(pull_policy("nginx@sha256:abc") == "IfNotPresent");
  CHECK(pull_policy("nginx:latest@sha256:abc") == "Always");
}

TEST_CASE("a pod in the host's network has its ports there, requests follow limits") {
  const auto pod = defaulted<core::v1::Pod>(R"(
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  hostNetwork: true
  serviceAccount: old
  containers:
  - name: c
    image: x
    ports: [{containerPort: 80}]
    resources: {limits: {cpu: "1", memory: 1Gi}, requests: {cpu: 100m}}
)");
  CHECK(pod.spec().containers(0).ports(0).host_port() == 80);
  const auto& requests = pod.spec().containers(0).resources().requests();
  CHECK(requests.at("cpu").string() == "100m");
  CHECK(requests.at("memory").string() == "1Gi");
  CHECK(pod.spec().service_account_name() == "old");
}

TEST_CASE("a replication controller takes selector and labels from its template") {
  const auto text = test::shared_manifest("frontend-controller.yaml");
  if (text.empty()) return;
  const auto rc = defaulted<core::v1::ReplicationController>(text);
  CHECK(rc.spec().selector().at("app") == "guestbook");
  CHECK(rc.spec().selector().size() == 2);
  CHECK(rc.metadata().labels().at("tier") == "frontend");
  CHECK(rc.spec().replicas() == 3);
  CHECK(rc.spec().template_().spec().containers(0).image_pull_policy() == "IfNotPresent");
}

TEST_CASE("a deployment rolls by a quarter unless it says otherwise") {
  const auto usual = defaulted<apps::v1::Deployment>(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {}}");
  CHECK(usual.spec().replicas() == 1);
  CHECK(usual.spec().revision_history_limit() == 10);
  CHECK(usual.spec().progress_deadline_seconds() == 600);
  CHECK(usual.spec().strategy().type() == "RollingUpdate");
  CHECK(usual.spec().strategy().rolling_update().max_surge().str_val() == "25%");
  const auto recreate = defaulted<apps::v1::Deployment>(
      "{apiVersion: apps/v1, kind: Deployment, spec: {strategy: {type: Recreate}}}");
  CHECK_FALSE(recreate.spec().strategy().has_rolling_update());
}

TEST_CASE("a service leads to the port of its own number") {
  const auto service = defaulted<core::v1::Service>(
      "{apiVersion: v1, kind: Service, spec: {type: NodePort, sessionAffinity: ClientIP,"
      " ports: [{port: 80}, {port: 81, targetPort: web}]}}");
  CHECK(service.spec().ports(0).target_port().int_val() == 80);
  CHECK(service.spec().ports(1).target_port().str_val() == "web");
  CHECK(service.spec().ports(0).protocol() == "TCP");
  CHECK(service.spec().external_traffic_policy() == "Cluster");
  CHECK(service.spec().session_affinity_config().client_ip().timeout_seconds() == 10800);
}

TEST_CASE("a secret's texts go into its data") {
  const auto secret = defaulted<core::v1::Secret>(
      "{apiVersion: v1, kind: Secret, data: {a: YQ==, b: YQ==}, stringData: {b: new}}");
  CHECK(secret.data().at("a") == "a");
  CHECK(secret.data().at("b") == "new");
  CHECK(secret.string_data().empty());
  CHECK(secret.type() == "Opaque");
}

TEST_CASE("defaulting a second time changes nothing, whatever the object") {
  for (const auto* kind : scheme::instance().all()) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      random_options options;
      options.presence = 0.1 * static_cast<double>(seed % 10);
      if (seed % 3 == 0) options.style = random_options::mode::hostile;
      auto once = random_object(*kind, seed, options);
      set_defaults(*kind, *once);
      std::unique_ptr<body> twice(once->New());
      twice->CopyFrom(*once);
      set_defaults(*kind, *twice);
      INFO(kind->kind() << " seed " << seed);
      REQUIRE(MessageDifferencer::Equals(*once, *twice));
    }
  }
}
