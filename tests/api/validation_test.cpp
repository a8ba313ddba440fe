#include "api/validation/validation.hpp"

#include <catch2/catch.hpp>

#include "api/manifests.hpp"
#include "api/schema/apiregistration_v1.pb.h"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/schema/core_service.pb.h"

using namespace troupe;
using namespace troupe::api;
using test::created;

namespace {

using lines = std::vector<std::string>;

// "field: message" of each cause.
lines told(const std::vector<error_cause>& causes) {
  lines made;
  for (const auto& cause : causes)
    made.push_back(cause.field + ": " + cause.message);
  return made;
}

template <class T>
lines faults(std::string_view yaml) {
  const auto object = created<T>(yaml);
  return told(validate_create(kind_of<T>(), object));
}

template <class T>
lines faults_of_change(const T& now, const T& was) {
  return told(validate_update(kind_of<T>(), now, was));
}

// The errors of a pod with this spec, in flow style.
lines pod_faults(const std::string& spec) {
  return faults<core::v1::Pod>("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " + spec +
                               "}");
}

// The errors of a pod whose container has these members besides name and image.
lines container_faults(const std::string& members) {
  return pod_faults("{volumes: [{name: v, emptyDir: {}}], containers: [{name: c, image: x, " +
                    members + "}]}");
}

const std::string good_pod =
    "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: x}]}}";

}  // namespace

TEST_CASE("real manifests of today are valid") {
  for (const char* name :
       {"pod.yaml", "pod-with-metadata-and-probes.yaml", "pod-with-precision.json",
        "frontend-controller.yaml", "frontend-replicaset.yaml", "redis-slave-replicaset.yaml",
        "deployment-revision1.yaml", "deployment-revision2.yaml",
        "deployment-multicontainer-resources.yaml", "scale-deploy-1.yaml", "configmap.yaml",
        "secret.yaml"}) {
    const auto text = test::shared_manifest(name);
    if (text.empty()) return;
    auto object = test::object_from(text);
    const random_bits random = [] { return 1; };
    REQUIRE(settle_namespace(*object.kind, *object.content, "default"));
    set_defaults(*object.kind, *object.content);
    prepare_create(*object.kind, *object.content, {"u", 1, random});
    INFO(name);
    CHECK(told(validate_create(*object.kind, *object.content)) == lines{});
  }
}

TEST_CASE("a container without a name is refused with its field") {
  const auto text = test::shared_manifest("invalid-pod.yaml");
  if (text.empty()) return;
  const auto pod = created<core::v1::Pod>(text);
  const auto causes = validate_create(kind_of<core::v1::Pod>(), pod);
  REQUIRE(causes.size() == 1);
  CHECK(causes[0].reason == "FieldValueRequired");
  CHECK(causes[0].field == "spec.containers[0].name");
  CHECK(causes[0].message == "Required value");
  CHECK(invalid(kind_of<core::v1::Pod>(), "test", causes).message ==
        "Pod \"test\" is invalid: spec.containers[0].name: Required value");
}

TEST_CASE("names follow the syntax of their kind") {
  CHECK(faults<core::v1::Pod>("{apiVersion: v1, kind: Pod, metadata: {name: A_b}, spec: "
                              "{containers: [{name: c, image: x}]}}")
            .at(0)
            .starts_with("metadata.name: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain "
                         "must consist of"));
  CHECK(faults<core::v1::Namespace>("{apiVersion: v1, kind: Namespace, metadata: {name: a.b}}")
            .at(0)
            .starts_with("metadata.name: Invalid value: \"a.b\": a lowercase RFC 1123 label"));
  CHECK(faults<core::v1::Service>("{apiVersion: v1, kind: Service, metadata: {name: 1a}, spec: "
                                  "{ports: [{port: 80}]}}")
            .at(0)
            .starts_with("metadata.name: Invalid value: \"1a\": a DNS-1035 label"));
  CHECK(faults<core::v1::ConfigMap>("{apiVersion: v1, kind: ConfigMap, metadata: {}}") ==
        lines{"metadata.name: Required value: name or generateName is required"});
}

TEST_CASE("labels, annotations, owners and finalizers are checked") {
  const auto found = faults<core::v1::ConfigMap>(R"(
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  labels: {"-bad": ok, good: "not ok"}
  annotations: {"a/b/c": x}
  ownerReferences: [{kind: Pod, name: p, uid: ""}]
  finalizers: [orphan, foregroundDeletion, "no/t/good"]
)");
  REQUIRE(found.size() == 7);
  CHECK(found[0].starts_with("metadata.labels: Invalid value: \"-bad\": name part must consist"));
  CHECK(found[1].starts_with("metadata.labels: Invalid value: \"not ok\": a valid label must be"));
  CHECK(found[2].starts_with("metadata.annotations: Invalid value: \"a/b/c\": a valid label key"));
  CHECK(found[3] == "metadata.ownerReferences[0].apiVersion: Required value: must not be empty");
  CHECK(found[4] == "metadata.ownerReferences[0].uid: Required value: must not be empty");
  CHECK(found[5].starts_with("metadata.finalizers: Invalid value: \"no/t/good\""));
  CHECK(found[6].ends_with("cannot be both set"));
}

TEST_CASE("a finalizer of a built-in kind names a domain, unless it is a standard one") {
  const auto was = created<core::v1::ConfigMap>(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [orphan, x, a.b/c]}}");
  const std::string fault = "name is neither a standard finalizer name nor is it fully qualified";
  CHECK(told(validate_create(kind_of<core::v1::ConfigMap>(), was)) ==
        lines{"metadata.finalizers[1]: Invalid value: \"x\": " + fault});
  // A store of before may have such an object: it can still be changed.
  auto now = was;
  CHECK(faults_of_change(now, was).empty());
  now.mutable_metadata()->add_finalizers("y");
  CHECK(faults_of_change(now, was) ==
        lines{"metadata.finalizers[3]: Invalid value: \"y\": " + fault});
}

TEST_CASE("file modes, lives of tokens and ports of servers are refused in upstream's words") {
  const std::string mode = "must be a number between 0 and 0777 (octal), both inclusive";
  CHECK(pod_faults("{containers: [{name: c, image: x}], volumes: [{name: v, secret: {secretName: s,"
                   " defaultMode: 512}}, {name: w, projected: {sources: [{serviceAccountToken: "
                   "{path: t, expirationSeconds: 10}}]}}]}") ==
        lines{"spec.volumes[0].secret.defaultMode: Invalid value: 512: " + mode,
              "spec.volumes[1].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid "
              "value: 10: may not specify a duration less than 10 minutes"});
  CHECK(faults<apiregistration::v1::APIService>(
            "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.a.b}, "
            "spec: {group: a.b, version: v1, groupPriorityMinimum: 1, versionPriority: 1, "
            "insecureSkipTLSVerify: true, service: {namespace: a, name: b, port: 70000}}}") ==
        lines{"spec.service.port: Invalid value: 70000: port is not valid: must be between 1 and "
              "65535, inclusive"});
}

TEST_CASE("annotations beyond 256 KiB are too long") {
  auto pod = created<core::v1::Pod>(good_pod);
  (*pod.mutable_metadata()->mutable_annotations())["a"] = std::string(256 * 1024, 'x');
  const auto causes = validate_create(kind_of<core::v1::Pod>(), pod);
  REQUIRE(causes.size() == 1);
  CHECK(causes[0].reason == "FieldValueTooLong");
  CHECK(causes[0].field == "metadata.annotations");
}

TEST_CASE("a pod's containers are distinct and whole") {
  CHECK(pod_faults("{containers: []}") == lines{"spec.containers: Required value"});
  CHECK(pod_faults("{containers: [{name: c, image: x}, {name: c, image: y}], initContainers: "
                   "[{name: c, image: z}]}") ==
        lines{"spec.containers[1].name: Duplicate value: \"c\"",
              "spec.initContainers[0].name: Duplicate value: \"c\""});
  CHECK(pod_faults("{restartPolicy: Sometimes, containers: [{name: c}]}") ==
        lines{"spec.containers[0].image: Required value",
              "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
              "\"OnFailure\", \"Never\""});
  CHECK(
      pod_faults("{activeDeadlineSeconds: 0, terminationGracePeriodSeconds: -1, containers: "
                 "[{name: c, image: x}]}") ==
      lines{"spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, "
            "inclusive",
            "spec.terminationGracePeriodSeconds: Invalid value: -1: must be greater than or equal "
            "to 0"});
}

TEST_CASE("ports have names, numbers and one place on the node") {
  CHECK(container_faults("ports: [{name: WEB, containerPort: 70000}]").size() == 3);
  CHECK(container_faults("ports: [{name: a, containerPort: 1}, {name: a, containerPort: 2}]") ==
        lines{"spec.containers[0].ports[1].name: Duplicate value: \"a\""});
  CHECK(container_faults("ports: [{containerPort: 1, hostPort: 9}, {containerPort: 2, hostPort: "
                         "9}]") ==
        lines{"spec.containers[0].ports[1].hostPort: Duplicate value: \"TCP//9\""});
  const std::string port = "ports: [{containerPort: 1, hostPort: 9}]}";
  CHECK(pod_faults("{containers: [{name: a, image: x, " + port + ", {name: b, image: x, " + port +
                   "], initContainers: [{name: i, image: x, " + port + "]}") ==
        lines{"spec.containers[1].ports[0].hostPort: Duplicate value: \"TCP//9\""});
  CHECK(
      pod_faults("{containers: [{name: c, image: x}], initContainers: [{name: i, image: x, ports: "
                 "[{containerPort: 1, hostPort: 9}, {containerPort: 2, hostPort: 9}]}]}") ==
      lines{"spec.initContainers[0].ports[1].hostPort: Duplicate value: \"TCP//9\""});
  CHECK(container_faults("ports: [{containerPort: 0}]") ==
        lines{"spec.containers[0].ports[0].containerPort: Required value"});
}

TEST_CASE("mounts lead to volumes of the pod") {
  CHECK(container_faults("volumeMounts: [{name: w, mountPath: /a}, {name: v, mountPath: /a}]") ==
        lines{"spec.containers[0].volumeMounts[0].name: Not found: \"w\"",
              "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/a\": must be "
              "unique"});
  CHECK(container_faults("volumeMounts: [{name: v, mountPath: /a, subPath: ../etc}]") ==
        lines{"spec.containers[0].volumeMounts[0].subPath: Invalid value: \"../etc\": must not "
              "contain '..'"});
  CHECK(
      pod_faults("{containers: [{name: c, image: x}], volumes: [{name: v, emptyDir: {}, hostPath: "
                 "{path: /a/../b}}, {name: v, secret: {items: [{key: k, path: /p}]}}]}") ==
      lines{"spec.volumes[0].emptyDir: Forbidden: may not specify more than 1 volume type",
            "spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'",
            "spec.volumes[1].name: Duplicate value: \"v\"",
            "spec.volumes[1].secret.secretName: Required value",
            "spec.volumes[1].secret.items[0].path: Invalid value: \"/p\": must be a relative "
            "path"});
}

TEST_CASE("the whole of /proc is for pods whose root is nobody on the node") {
  const auto faults = [](const std::string& more) {
    return pod_faults("{" + more +
                      "containers: [{name: c, image: x, securityContext: {procMount: Unmasked}}]}");
  };
  const lines refused{
      "spec.containers[0].securityContext.procMount: Invalid value: \"Unmasked\": `hostUsers` must "
      "be false to use `Unmasked`"};
  CHECK(faults("") == refused);
  CHECK(faults("hostUsers: true, ") == refused);
  CHECK(faults("hostUsers: false, ").empty());
}

TEST_CASE("a profile of the node is named where the type asks for one, and leads nowhere else") {
  const std::string at = "spec.containers[0].securityContext.";
  CHECK(container_faults("securityContext: {seccompProfile: {type: Localhost}, appArmorProfile: "
                         "{type: RuntimeDefault, localhostProfile: x}}") ==
        lines{at + "seccompProfile.localhostProfile: Required value: must be set when seccomp type "
                   "is Localhost",
              at + "appArmorProfile.localhostProfile: Invalid value: \"x\": can only be set when "
                   "AppArmor type is Localhost"});
  CHECK(container_faults("securityContext: {seccompProfile: {type: Localhost, localhostProfile: "
                         "a/../../b}}") ==
        lines{at +
              "seccompProfile.localhostProfile: Invalid value: \"a/../../b\": must not contain "
              "'..'"});
  CHECK(
      pod_faults("{securityContext: {seccompProfile: {type: Unconfined, localhostProfile: x}, "
                 "appArmorProfile: {type: Localhost}}, containers: [{name: c, image: x}]}") ==
      lines{"spec.securityContext.seccompProfile.localhostProfile: Invalid value: \"x\": can only "
            "be set when seccomp type is Localhost",
            "spec.securityContext.appArmorProfile.localhostProfile: Required value: must be set "
            "when AppArmor type is Localhost"});
}

TEST_CASE("variables have one source and a name that can be one") {
  CHECK(
      container_faults("env: [{name: a=b}, {name: N, valueFrom: {}}]") ==
      lines{"spec.containers[0].env[0].name: Invalid value: \"a=b\": a valid environment variable "
            "name must consist only of printable ASCII characters other than '='",
            "spec.containers[0].env[1].valueFrom: Invalid value: \"\": must specify one of: "
            "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"});
  CHECK(container_faults("env: [{name: N, valueFrom: {fieldRef: {fieldPath: spec.x}}}]")
            .at(0)
            .starts_with("spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported "
                         "value: \"spec.x\": supported values: \"metadata.name\""));
  CHECK(container_faults("env: [{name: N, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['a']"
                         "\"}}}], envFrom: [{configMapRef: {name: m}}]") == lines{});
}

TEST_CASE("probes ask in one way and are whole") {
  CHECK(container_faults("livenessProbe: {periodSeconds: 5}") ==
        lines{"spec.containers[0].livenessProbe: Required value: must specify a handler type"});
  CHECK(container_faults("livenessProbe: {successThreshold: 2, exec: {command: [a]}, tcpSocket: "
                         "{port: 0}}") ==
        lines{"spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 "
              "handler type",
              "spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: 0: must be between "
              "1 and 65535, inclusive",
              "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"});
  const std::string range = ".port: Invalid value: 0: must be between 1 and 65535, inclusive";
  for (const auto* handler : {"grpc", "httpGet", "tcpSocket"})
    CHECK(container_faults("readinessProbe: {" + std::string{handler} + ": {}}") ==
          lines{"spec.containers[0].readinessProbe." + std::string{handler} + range});
  CHECK(container_faults("lifecycle: {preStop: {httpGet: {port: 0}}}, livenessProbe: "
                         "{terminationGracePeriodSeconds: 0, exec: {command: [a]}}") ==
        lines{"spec.containers[0].lifecycle.preStop.httpGet" + range,
              "spec.containers[0].livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: "
              "must be greater than 0"});
  CHECK(
      pod_faults("{containers: [{name: c, image: x}], initContainers: [{name: i, image: x, "
                 "readinessProbe: {exec: {command: [a]}}}]}") ==
      lines{"spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers "
            "without restartPolicy=Always"});
}

TEST_CASE("amounts are not negative and requests fit limits") {
  CHECK(container_faults("resources: {requests: {cpu: -1}}") ==
        lines{"spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\": must be greater "
              "than or equal to 0"});
  CHECK(container_faults("resources: {requests: {cpu: 2}, limits: {cpu: 1500m}}") ==
        lines{"spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or "
              "equal to cpu limit of 1500m"});
  const std::string tea = "spec.containers[0].resources.requests[tea]: Invalid value: \"tea\": ";
  CHECK(container_faults("resources: {requests: {tea: 1}}") ==
        lines{tea + "must be a standard resource type or fully qualified",
              tea + "must be a standard resource for containers"});
  // Requests get the limits as defaults.
  const std::string green =
      "[requests.tea.example.com/green]: Invalid value: \"requests.tea.example.com/green\": "
      "doesn't follow extended resource name standard";
  CHECK(container_faults("resources: {limits: {requests.tea.example.com/green: 1}}") ==
        lines{"spec.containers[0].resources.limits" + green,
              "spec.containers[0].resources.requests" + green});
  CHECK(container_faults("resources: {requests: {example.com/gpu: 1}}") ==
        lines{"spec.containers[0].resources.limits: Required value: Limit must be set for non "
              "overcommitable resources"});
  CHECK(container_faults("resources: {limits: {example.com/gpu: 1500m}}")
            .at(0)
            .ends_with("must be an integer"));
}

TEST_CASE("tolerations, affinity and spreading make sense") {
  const std::string rest = ", containers: [{name: c, image: x}]}";
  CHECK(pod_faults("{tolerations: [{value: x}]" + rest)
            .at(0)
            .starts_with("spec.tolerations[0].operator: Invalid value: \"\": operator must be "
                         "Exists when `key` is empty"));
  CHECK(pod_faults("{tolerations: [{key: k, operator: Exists, tolerationSeconds: 3}]" + rest) ==
        lines{"spec.tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when "
              "`tolerationSeconds` is set"});
  CHECK(pod_faults("{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                   "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}}" +
                   rest) ==
        lines{"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
              "nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified "
              "when `operator` is 'In' or 'NotIn'"});
  CHECK(pod_faults("{schedulingGates: [{name: g}, {name: g}], nodeName: n" + rest).size() == 2);
  CHECK(
      pod_faults("{topologySpreadConstraints: [{minDomains: 0, topologyKey: z, "
                 "whenUnsatisfiable: DoNotSchedule}], affinity: {podAffinity: "
                 "{preferredDuringSchedulingIgnoredDuringExecution: [{podAffinityTerm: "
                 "{topologyKey: z}}]}}" +
                 rest) ==
      lines{"spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight:"
            " Invalid value: 0: must be in the range 1-100",
            "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than "
            "zero",
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than "
            "zero"});
}

TEST_CASE("matchLabelKeys need a selector, which does not have the same keys") {
  const std::string rest = "}], containers: [{name: c, image: x}]}";
  const std::string spread =
      "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, "
      "whenUnsatisfiable: DoNotSchedule, ";
  const std::string selector =
      "labelSelector: {matchLabels: {a: b}, matchExpressions: "
      "[{key: d, operator: Exists}]}, ";
  const std::string at = "spec.topologySpreadConstraints[0].matchLabelKeys";
  CHECK(pod_faults(spread + selector + "matchLabelKeys: [c]" + rest) == lines{});
  CHECK(pod_faults(spread + "matchLabelKeys: [c]" + rest) ==
        lines{at + ": Forbidden: must not be specified when labelSelector is not set"});
  CHECK(pod_faults(spread + selector + "matchLabelKeys: [c, a, d, '-']" + rest).size() == 3);
  CHECK(pod_faults(spread + selector + "matchLabelKeys: [d]" + rest) ==
        lines{at + "[0]: Invalid value: \"d\": exists in both matchLabelKeys and labelSelector"});

  const std::string affinity =
      "{affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "[{topologyKey: zone, ";
  const std::string end = "}]}}, containers: [{name: c, image: x}]}";
  const std::string term =
      "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].";
  CHECK(pod_faults(affinity + selector + "matchLabelKeys: [c], mismatchLabelKeys: [e]" + end) ==
        lines{});
  CHECK(pod_faults(affinity + "mismatchLabelKeys: [e]" + end) ==
        lines{term + "mismatchLabelKeys: Forbidden: must not be specified when labelSelector is "
                     "not set"});
  CHECK(pod_faults(affinity + selector + "matchLabelKeys: [a]" + end) ==
        lines{term + "matchLabelKeys[0]: Invalid value: \"a\": exists in both matchLabelKeys and "
                     "labelSelector"});
  CHECK(pod_faults(affinity + selector + "matchLabelKeys: [c], mismatchLabelKeys: [c]" + end) ==
        lines{term + "matchLabelKeys[0]: Invalid value: \"c\": exists in both matchLabelKeys and "
                     "mismatchLabelKeys"});
}

TEST_CASE("few fields of an existing pod may change") {
  auto was = created<core::v1::Pod>(good_pod);
  auto& first = *was.mutable_spec()->add_tolerations();
  first.set_key("first");
  first.set_operator_("Exists");
  CHECK(faults_of_change(was, was) == lines{});
  auto now = was;
  now.mutable_spec()->mutable_containers(0)->set_image("y");
  now.mutable_spec()->set_active_deadline_seconds(10);
  auto& toleration = *now.mutable_spec()->add_tolerations();
  toleration.set_key("k");
  toleration.set_operator_("Exists");
  CHECK(faults_of_change(now, was) == lines{});
  now = was;
  now.mutable_spec()->set_node_name("other");
  CHECK(faults_of_change(now, was).at(0).starts_with(
      "spec: Forbidden: pod updates may not change fields other than"));
  now = was;
  now.mutable_spec()->clear_tolerations();
  CHECK(faults_of_change(now, was) ==
        lines{"spec.tolerations: Forbidden: existing toleration can not be modified except its "
              "tolerationSeconds"});
  now = was;
  now.mutable_spec()->add_containers()->set_name("d");
  now.mutable_spec()->mutable_containers(1)->set_image("d");
  CHECK(faults_of_change(now, was) ==
        lines{"spec.containers: Forbidden: pod updates may not add or remove containers"});
}

TEST_CASE("a scheduling gate can only be removed, and while gated the placement may be narrowed") {
  const auto was = created<core::v1::Pod>(
      "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {schedulingGates: [{name: g}], "
      "containers: [{name: c, image: x}]}}");
  auto now = was;
  (*now.mutable_spec()->mutable_node_selector())["disk"] = "ssd";
  CHECK(faults_of_change(now, was) == lines{});
  now.mutable_spec()->clear_scheduling_gates();
  CHECK(faults_of_change(now, was) == lines{});
  auto free = now;
  free.mutable_spec()->clear_node_selector();
  CHECK(faults_of_change(free, now).size() == 1);
  free = now;
  free.mutable_spec()->add_scheduling_gates()->set_name("h");
  CHECK(faults_of_change(free, now).at(0).find("only deletion is allowed") != std::string::npos);
}

TEST_CASE("ephemeral containers come by their own subresource and are never removed") {
  auto was = created<core::v1::Pod>(good_pod);
  auto now = was;
  auto& added = *now.mutable_spec()->add_ephemeral_containers();
  added.mutable_ephemeral_container_common()->set_name("debug");
  added.mutable_ephemeral_container_common()->set_image("busybox");
  added.set_target_container_name("c");
  CHECK(told(validate_ephemeral_containers(now, was)) == lines{});
  CHECK(told(validate_create(kind_of<core::v1::Pod>(), now)) ==
        lines{"spec.ephemeralContainers: Forbidden: cannot be set on create"});
  CHECK(told(validate_ephemeral_containers(was, now)).size() == 1);
  added.mutable_ephemeral_container_common()->set_name("c");
  CHECK(told(validate_ephemeral_containers(now, was)).at(0) ==
        "spec.ephemeralContainers[0].name: Duplicate value: \"c\"");
}

TEST_CASE("a controller's selector matches its template, whose restart policy is Always") {
  const auto found = faults<core::v1::ReplicationController>(R"(
apiVersion: v1
kind: ReplicationController
metadata: {name: a}
spec:
  replicas: -1
  selector: {app: x}
  template:
    metadata: {labels: {app: y}}
    spec: {restartPolicy: Never, containers: [{name: c, image: i}]}
)");
  CHECK(found ==
        lines{"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
              "spec.template.metadata.labels: Invalid value: {\"app\":\"y\"}: `selector` does not "
              "match template `labels`",
              "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: "
              "\"Always\""});
  CHECK(faults<core::v1::ReplicationController>(
            "{apiVersion: v1, kind: ReplicationController, metadata: {name: a}, spec: {}}") ==
        lines{"spec.template: Required value", "spec.selector: Required value"});
}

TEST_CASE("a replica set's selector is wanted, not empty, and never changes") {
  const std::string head = "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a}, spec: {";
  const std::string pods =
      "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}";
  CHECK(faults<apps::v1::ReplicaSet>(head + pods) == lines{"spec.selector: Required value"});
  CHECK(faults<apps::v1::ReplicaSet>(head + "selector: {}, " + pods) ==
        lines{"spec.selector: Invalid value: {}: empty selector is invalid for deployment"});
  const auto was = created<apps::v1::ReplicaSet>(head + "selector: {matchLabels: {a: b}}, " + pods);
  auto now = was;
  (*now.mutable_spec()->mutable_selector()->mutable_match_labels())["x"] = "y";
  (*now.mutable_spec()->mutable_template_()->mutable_metadata()->mutable_labels())["x"] = "y";
  CHECK(faults_of_change(now, was).at(0).ends_with("field is immutable"));
}

TEST_CASE("a deployment's strategy can make progress") {
  const std::string head =
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: "
      "{a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "
      "i}]}}, ";
  CHECK(faults<apps::v1::Deployment>(
            head + "strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}}}") ==
        lines{"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when "
              "`maxSurge` is 0"});
  CHECK(
      faults<apps::v1::Deployment>(head +
                                   "strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}}}") ==
      lines{"spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is "
            "'Recreate'"});
  CHECK(faults<apps::v1::Deployment>(head + "minReadySeconds: 5, progressDeadlineSeconds: 5}}") ==
        lines{"spec.progressDeadlineSeconds: Invalid value: 5: must be greater than "
              "minReadySeconds"});
}

TEST_CASE("a service has distinguishable ports and an immutable address") {
  const std::string head = "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {";
  CHECK(faults<core::v1::Service>(head + "}}") == lines{"spec.ports: Required value"});
  CHECK(faults<core::v1::Service>(head + "ports: [{port: 0}]}}") ==
        lines{"spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
              "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, "
              "inclusive"});
  CHECK(faults<core::v1::Service>(head + "clusterIP: None}}") == lines{});
  // An address is chosen for an empty clusterIP; an empty one in the list is none.
  CHECK(
      faults<core::v1::Service>(head + "clusterIP: '', clusterIPs: [''], ports: [{port: 80}]}}") ==
      lines{"spec.clusterIPs[0]: Invalid value: \"\": must be a valid IP address, (e.g. "
            "10.9.8.7 or 2001:db8::ffff)"});
  CHECK(faults<core::v1::Service>(head + "ports: [{port: 80}, {port: 80, nodePort: 30000}]}}") ==
        lines{"spec.ports[0].name: Required value", "spec.ports[1].name: Required value",
              "spec.ports[1]: Duplicate value: \"TCP/80\"",
              "spec.ports[1].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"});
  CHECK(faults<core::v1::Service>(head + "type: ExternalName}}") ==
        lines{"spec.externalName: Required value"});
  const auto was = created<core::v1::Service>(head + "clusterIP: 10.0.0.1, ports: [{port: 80}]}}");
  auto now = was;
  now.mutable_spec()->set_cluster_ip("10.0.0.2");
  CHECK(faults_of_change(now, was) ==
        lines{"spec.clusterIPs[0]: Invalid value: \"10.0.0.2\": may not change once set"});
}

TEST_CASE("an immutable config map cannot be changed, and a secret has the data of its type") {
  auto was = created<core::v1::ConfigMap>(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, immutable: true, data: {k: v}}");
  auto now = was;
  (*now.mutable_data())["k"] = "w";
  CHECK(faults_of_change(now, was) ==
        lines{"data: Forbidden: field is immutable when `immutable` is set"});
  CHECK(faults<core::v1::ConfigMap>(
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {'a b': v}}")
            .at(0)
            .starts_with("data[a b]: Invalid value: \"a b\": a valid config key must consist of"));
  CHECK(faults<core::v1::Secret>(
            "{apiVersion: v1, kind: Secret, type: kubernetes.io/tls, metadata: "
            "{name: a}, data: {tls.crt: YQ==}}") == lines{"data[tls.key]: Required value"});
  auto secret = created<core::v1::Secret>("{apiVersion: v1, kind: Secret, metadata: {name: a}}");
  auto other = secret;
  other.set_type("other");
  CHECK(faults_of_change(other, secret) ==
        lines{"type: Invalid value: \"other\": field is immutable"});
  (*secret.mutable_data())["k"] = std::string(1024 * 1024 + 1, 'x');
  CHECK(validate_create(kind_of<core::v1::Secret>(), secret).at(0).reason == "FieldValueTooLong");
}

TEST_CASE("nodes, events and identity") {
  CHECK(faults<core::v1::Node>("{apiVersion: v1, kind: Node, metadata: {name: n}, spec: {taints: "
                               "[{key: k, effect: NoSchedule}, {key: k, effect: NoSchedule}]}}") ==
        lines{"spec.taints[1]: Duplicate value: \"k:NoSchedule\""});
  CHECK(
      faults<core::v1::Event>("{apiVersion: v1, kind: Event, metadata: {name: e}, involvedObject: "
                              "{namespace: other}}") ==
      lines{"involvedObject.namespace: Invalid value: \"other\": does not match event.namespace"});
  const auto was = created<core::v1::Pod>(good_pod);
  auto now = was;
  now.mutable_metadata()->set_uid("other");
  CHECK(faults_of_change(now, was) ==
        lines{"metadata.uid: Invalid value: \"other\": field is immutable"});
}

TEST_CASE("the ranges of a node's pods stay once they are given") {
  core::v1::Node was;
  was.mutable_metadata()->set_name("n");
  auto now = was;
  now.mutable_spec()->set_pod_cidr("10.42.1.0/24");
  now.mutable_spec()->add_pod_cidrs("10.42.1.0/24");
  CHECK(faults_of_change(now, was).empty());
  was = now;
  now.mutable_spec()->set_pod_cidrs(0, "10.42.0.0/16");
  const lines refused{
      "spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to valid"};
  CHECK(faults_of_change(now, was) == refused);
  now = was;
  now.mutable_spec()->add_pod_cidrs("fd00::/64");
  CHECK(faults_of_change(now, was) == refused);
}

TEST_CASE("a hostile object gets a bounded answer") {
  core::v1::Pod pod = created<core::v1::Pod>(good_pod);
  for (int i = 0; i < 10'000; ++i)
    pod.mutable_spec()->add_containers();
  CHECK(validate_create(kind_of<core::v1::Pod>(), pod).size() == 100);
}
