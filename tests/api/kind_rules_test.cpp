// Validation of kinds other than pods and their owners: documents and their errors, in Kubernetes'
// words.
#include <algorithm>
#include <catch2/catch.hpp>

#include "api/conversion/shapes.hpp"
#include "api/kind_row.hpp"
#include "api/manifests.hpp"
#include "api/validation/field_errors.hpp"
#include "api/validation/validation.hpp"
#include "support/kind_examples.hpp"

using namespace troupe;
using namespace troupe::api;

namespace {

using lines = std::vector<std::string>;

lines told(const std::vector<error_cause>& causes) {
  lines made;
  for (const auto& cause : causes)
    made.push_back(cause.field + ": " + cause.message);
  return made;
}

struct finished {
  const kind_info* kind;
  std::unique_ptr<body> content;
};

finished created(const std::string& yaml) {
  auto read = test::object_from(yaml);
  const random_bits random = [] { return 7; };
  const auto& kind = home_of(*read.kind);
  auto content = convert_to_home(*read.kind, std::move(read.content), nullptr);
  REQUIRE(settle_namespace(kind, *content, "default"));
  set_defaults(kind, *content);
  prepare_create(kind, *content, {"u-1", 1'400'000'000, random});
  return {&kind, std::move(content)};
}

struct refusal {
  const char* head;  // "apps/v1 DaemonSet"
  const char* rest;  // the members except kind and apiVersion
  lines expected;
};

std::string document(const std::string& head, const std::string& rest) {
  const auto space = head.find(' ');
  return "apiVersion: " + head.substr(0, space) + "\nkind: " + head.substr(space + 1) + "\n" + rest;
}

void check_all(const std::vector<refusal>& table) {
  for (const auto& each : table) {
    INFO(each.head << "\n" << each.rest);
    const auto made = created(document(each.head, each.rest));
    CHECK(told(validate_create(*made.kind, *made.content)) == each.expected);
  }
}

struct change {
  const char* head;
  const char* was;
  const char* now;
  lines expected;
};

void check_changes(const std::vector<change>& table) {
  for (const auto& each : table) {
    INFO(each.head << "\n" << each.now);
    const auto was = created(document(each.head, each.was));
    const auto now = created(document(each.head, each.now));
    CHECK(told(validate_update(*now.kind, *now.content, *was.content)) == each.expected);
  }
}

#define PODS "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}"
#define JOB_PODS "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}"

}  // namespace

TEST_CASE("an absent pod template is an empty one, except in a replication controller") {
  const lines empty{
      "spec.template.metadata.labels: Invalid value: null: `selector` does not match template "
      "`labels`",
      "spec.template.spec.containers: Required value"};
  const auto selecting = "metadata: {name: x}\nspec: {selector: {matchLabels: {a: b}}}\n";
  for (const auto* head :
       {"apps/v1 ReplicaSet", "apps/v1 Deployment", "apps/v1 DaemonSet", "apps/v1 StatefulSet"}) {
    INFO(head);
    const auto made = created(document(head, selecting));
    auto found = told(validate_create(*made.kind, *made.content));
    std::sort(found.begin(), found.end());
    CHECK(found == empty);
  }
  const std::string policy =
      "template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\"";
  check_all({
      {"v1 ReplicationController",
       "metadata: {name: x}\nspec: {selector: {a: b}}\n",
       {"spec.template: Required value"}},
      {"batch/v1 Job",
       "metadata: {name: x}\n",
       {"spec.template.spec.containers: Required value", "spec." + policy}},
      {"batch/v1 CronJob",
       "metadata: {name: x}\nspec: {schedule: '@daily'}\n",
       {"spec.jobTemplate.spec.template.spec.containers: Required value",
        "spec.jobTemplate.spec." + policy}},
  });
}

TEST_CASE("sets that cannot keep their pods are refused") {
  check_all({
      {"apps/v1 DaemonSet",
       "metadata: {name: x}\nspec: {" PODS "}\n",
       {"spec.selector: Required value"}},
      {"apps/v1 DaemonSet",
       "metadata: {name: x}\nspec: {selector: {matchLabels: {a: c}}, " PODS "}\n",
       {"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match "
        "template `labels`"}},
      {"apps/v1 DaemonSet",
       "metadata: {name: x}\nspec: {selector: {matchLabels: {a: b}}, updateStrategy: "
       "{rollingUpdate: {maxUnavailable: 0}}, " PODS "}\n",
       {"spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when "
        "maxSurge is 0"}},
      {"apps/v1 DaemonSet",
       "metadata: {name: x}\nspec: {selector: {matchLabels: {a: b}}, updateStrategy: "
       "{rollingUpdate: {maxSurge: 1}}, " PODS "}\n",
       {"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when "
        "maxUnavailable is non-zero"}},
      {"apps/v1 StatefulSet",
       "metadata: {name: x}\nspec: {replicas: -1, podManagementPolicy: Fast, selector: "
       "{matchLabels: {a: b}}, " PODS "}\n",
       {"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        "spec.podManagementPolicy: Unsupported value: \"Fast\": supported values: "
        "\"OrderedReady\", \"Parallel\""}},
      {"apps/v1 StatefulSet",
       "metadata: {name: x}\nspec: {selector: {}, updateStrategy: {type: OnDelete, rollingUpdate: "
       "{partition: 1}}, " PODS "}\n",
       {"spec.updateStrategy.rollingUpdate: Invalid value: {}: only allowed for updateStrategy "
        "'RollingUpdate'",
        "spec.selector: Invalid value: {}: empty selector is invalid for statefulset"}},
      {"apps/v1 ControllerRevision",
       "metadata: {name: x}\nrevision: -1\n",
       {"data: Required value: data is mandatory",
        "revision: Invalid value: -1: must be greater than or equal to 0"}},
  });
  check_changes({
      {"apps/v1 StatefulSet",
       "metadata: {name: x}\nspec: {serviceName: s, selector: {matchLabels: {a: b}}, " PODS "}\n",
       "metadata: {name: x}\nspec: {serviceName: t, selector: {matchLabels: {a: b}}, " PODS "}\n",
       {"spec: Forbidden: updates to statefulset spec for fields other than 'replicas', "
        "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
        "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"}},
      {"apps/v1 StatefulSet",
       "metadata: {name: x}\nspec: {replicas: 1, selector: {matchLabels: {a: b}}, " PODS "}\n",
       "metadata: {name: x}\nspec: {replicas: 3, selector: {matchLabels: {a: b}}, " PODS "}\n",
       {}},
  });
}

TEST_CASE("jobs that could never end are refused") {
  check_all({
      {"batch/v1 Job",
       "metadata: {name: x}\nspec: {" PODS "}\n",
       {"spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
        "\"Never\""}},
      {"batch/v1 Job",
       "metadata: {name: x}\nspec: {completionMode: Indexed, parallelism: 2, " JOB_PODS "}\n",
       {"spec.completions: Required value: when completion mode is Indexed"}},
      {"batch/v1 Job",
       "metadata: {name: x}\nspec: {backoffLimitPerIndex: 1, " JOB_PODS "}\n",
       {"spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"}},
      {"batch/v1 Job",
       "metadata: {name: x}\nspec: {selector: {matchLabels: {a: b}}, manualSelector: "
       "true, " JOB_PODS "}\n",
       {"spec.template.metadata.labels: Invalid value: null: `selector` does not match template "
        "`labels`"}},
      {"batch/v1 Job",
       "metadata: {name: x}\nspec: {template: {metadata: {labels: {job-name: other}}, spec: "
       "{restartPolicy: Never, containers: [{name: c, image: i}]}}}\n",
       {"spec.template.metadata.labels[job-name]: Invalid value: \"other\": must be 'x'"}},
      {"batch/v1 CronJob",
       "metadata: {name: x}\nspec: {schedule: \"61 * * * *\", jobTemplate: {spec: {" JOB_PODS
       "}}}\n",
       {"spec.schedule: Invalid value: \"61 * * * *\": end of range (61) above maximum (59): 61"}},
      {"batch/v1 CronJob",
       "metadata: {name: x}\nspec: {schedule: \"* * *\", timeZone: \"\", jobTemplate: {spec: "
       "{" JOB_PODS "}}}\n",
       {"spec.schedule: Invalid value: \"* * *\": expected exactly 5 fields, found 3: [* * *]",
        "spec.timeZone: Invalid value: \"\": timeZone must be nil or non-empty string"}},
      {"batch/v1 CronJob",
       "metadata: {name: x}\nspec: {schedule: '@daily', jobTemplate: {spec: {manualSelector: "
       "true, " JOB_PODS "}}}\n",
       {"spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: \"nil\", "
        "\"false\""}},
      {"batch/v1 CronJob",
       "metadata: {name: a23456789-123456789-123456789-123456789-123456789-abc}\nspec: {schedule: "
       "\"@daily\", jobTemplate: {spec: {" JOB_PODS "}}}\n",
       {"metadata.name: Invalid value: \"a23456789-123456789-123456789-123456789-123456789-abc\": "
        "must be no more than 52 characters"}},
  });
  check_changes({
      {"batch/v1 Job",
       "metadata: {name: x}\nspec: {completions: 1, " JOB_PODS "}\n",
       "metadata: {name: x}\nspec: {completions: 2, " JOB_PODS "}\n",
       {"spec.completions: Invalid value: 2: field is immutable"}},
      {"batch/v1 Job",
       "metadata: {name: x}\nspec: {parallelism: 1, " JOB_PODS "}\n",
       "metadata: {name: x}\nspec: {parallelism: 5, " JOB_PODS "}\n",
       {}},
  });
}

TEST_CASE("a new job selects its pods by its uid") {
  const auto made =
      created(document("batch/v1 Job", "metadata: {name: x}\nspec: {" JOB_PODS "}\n"));
  const auto json = encode_json(*made.content, {}, {});
  CHECK_THAT(json,
             Catch::Contains(
                 R"("selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"u-1"}})"));
  CHECK_THAT(json, Catch::Contains(R"("batch.kubernetes.io/job-name":"x")"));
  CHECK_THAT(json, Catch::Contains(R"("backoffLimit":6)"));
  CHECK_THAT(json, Catch::Contains(R"("podReplacementPolicy":"TerminatingOrFailed")"));
}

TEST_CASE("autoscalers and budgets that contradict themselves are refused") {
  check_all({
      {"autoscaling/v2 HorizontalPodAutoscaler",
       "metadata: {name: x}\nspec: {minReplicas: 5, maxReplicas: 3}\n",
       {"spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`",
        "spec.scaleTargetRef.kind: Required value", "spec.scaleTargetRef.name: Required value"}},
      {"autoscaling/v1 HorizontalPodAutoscaler",
       "metadata: {name: x}\nspec: {maxReplicas: 0, scaleTargetRef: {kind: Deployment, name: d}}\n",
       {"spec.maxReplicas: Invalid value: 0: must be greater than 0",
        "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`"}},
      {"autoscaling/v2 HorizontalPodAutoscaler",
       "metadata: {name: x}\nspec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: d}, "
       "metrics: [{type: Pods, resource: {name: cpu, target: {type: Utilization}}}]}\n",
       {"spec.metrics[0].pods: Required value: must populate information for the given metric "
        "source",
        "spec.metrics[0].resource: Forbidden: must populate the given metric source only"}},
      {"policy/v1 PodDisruptionBudget",
       "metadata: {name: x}\nspec: {minAvailable: 120%, selector: {matchLabels: {a: b}}}\n",
       {"spec.minAvailable: Invalid value: \"120%\": must not be greater than 100%"}},
      {"policy/v1 PodDisruptionBudget",
       "metadata: {name: x}\nspec: {minAvailable: 1, maxUnavailable: 1}\n",
       {"spec: Invalid value: {\"minAvailable\":1,\"maxUnavailable\":1}: minAvailable and "
        "maxUnavailable cannot be both set"}},
  });
}

TEST_CASE("volumes and claims that cannot be bound are refused") {
  check_all({
      {"v1 PersistentVolume",
       "metadata: {name: x}\nspec: {}\n",
       {"spec: Required value: must specify a volume type", "spec.accessModes: Required value",
        "spec.capacity: Required value",
        "spec.capacity: Unsupported value: null: supported values: \"storage\""}},
      {"v1 PersistentVolume",
       "metadata: {name: x}\nspec: {capacity: {storage: 1Gi, cpu: 1}, accessModes: "
       "[ReadWriteOnce], hostPath: {path: /a}}\n",
       {"spec.capacity: Unsupported value: {\"cpu\":\"1\",\"storage\":\"1Gi\"}: supported values: "
        "\"storage\""}},
      {"v1 PersistentVolume",
       "metadata: {name: x}\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], "
       "hostPath: {path: /a}, nfs: {server: s, path: /b}}\n",
       {"spec.nfs: Forbidden: may not specify more than 1 volume type"}},
      {"v1 PersistentVolume",
       "metadata: {name: x}\nspec: {capacity: {storage: 0}, accessModes: [Often], local: {path: "
       "/a}}\n",
       {"spec.accessModes[0]: Unsupported value: \"Often\": supported values: \"ReadOnlyMany\", "
        "\"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"",
        "spec.capacity[storage]: Invalid value: \"0\": must be greater than zero",
        "spec.nodeAffinity: Required value: Local volume requires node affinity"}},
      {"v1 PersistentVolumeClaim",
       "metadata: {name: x}\nspec: {}\n",
       {"spec.accessModes: Required value: at least 1 access mode is required",
        "spec.resources[storage]: Required value"}},
      {"v1 PersistentVolumeClaim",
       "metadata: {name: x}\nspec: {accessModes: [ReadWriteOncePod, ReadWriteOnce], resources: "
       "{requests: {storage: 1Gi}}}\n",
       {"spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"}},
  });
  check_changes({
      {"v1 PersistentVolume",
       "metadata: {name: x}\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], "
       "hostPath: {path: /a}}\n",
       "metadata: {name: x}\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], "
       "hostPath: {path: /b}}\n",
       {"spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
        "creation"}},
      {"v1 PersistentVolumeClaim",
       "metadata: {name: x}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: "
       "1Gi}}}\n",
       "metadata: {name: x}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: "
       "2Gi}}}\n",
       {"spec: Forbidden: spec is immutable after creation except resources.requests and "
        "volumeAttributesClassName for bound claims"}},
      {"storage.k8s.io/v1 StorageClass",
       "metadata: {name: x}\nprovisioner: a\nparameters: {a: b}\n",
       "metadata: {name: x}\nprovisioner: b\nparameters: {a: c}\nreclaimPolicy: Retain\n",
       {"parameters: Forbidden: updates to parameters are forbidden.",
        "provisioner: Forbidden: updates to provisioner are forbidden.",
        "reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden."}},
  });
}

TEST_CASE("classes and drivers of volumes are checked") {
  check_all({
      {"storage.k8s.io/v1 StorageClass", "metadata: {name: x}\n", {"provisioner: Required value"}},
      {"storage.k8s.io/v1 StorageClass",
       "metadata: {name: x}\nprovisioner: a\nvolumeBindingMode: Later\n",
       {"volumeBindingMode: Unsupported value: \"Later\": supported values: \"Immediate\", "
        "\"WaitForFirstConsumer\""}},
      {"storage.k8s.io/v1 CSINode",
       "metadata: {name: x}\nspec: {drivers: [{name: a, nodeID: n}, {name: a}]}\n",
       {"spec.drivers[1].nodeID: Required value", "spec.drivers[1].name: Duplicate value: \"a\""}},
      {"storage.k8s.io/v1 CSIDriver",
       "metadata: {name: x}\nspec: {tokenRequests: [{audience: a, expirationSeconds: 1}]}\n",
       {"spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration "
        "less than 10 minutes"}},
      {"storage.k8s.io/v1 VolumeAttachment",
       "metadata: {name: x}\nspec: {attacher: d, nodeName: n}\n",
       {"spec.source: Required value: must specify exactly one of inlineVolumeSpec and "
        "persistentVolumeName"}},
      {"storage.k8s.io/v1 CSIStorageCapacity",
       "metadata: {name: x}\ncapacity: -1\n",
       {"storageClassName: Required value",
        "capacity: Invalid value: \"-1\": must be greater than or equal to 0"}},
  });
}

TEST_CASE("objects of networking and discovery are validated") {
  check_all({
      {"networking.k8s.io/v1 Ingress",
       "metadata: {name: x}\nspec: {}\n",
       {"spec: Invalid value: []: either `defaultBackend` or `rules` must be specified"}},
      {"networking.k8s.io/v1 Ingress",
       "metadata: {name: x}\nspec: {rules: [{host: 10.0.0.1, http: {paths: [{path: a//b, backend: "
       "{service: {name: s, port: {number: 80}}}}]}}]}\n",
       {"spec.rules[0].host: Invalid value: \"10.0.0.1\": must be a DNS name, not an IP address",
        "spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified"}},
      {"networking.k8s.io/v1 Ingress",
       "metadata: {name: x}\nspec: {rules: [{http: {paths: [{path: a//b, pathType: Exact, backend: "
       "{service: {name: s, port: {}}}}]}}]}\n",
       {"spec.rules[0].http.paths[0].path: Invalid value: \"a//b\": must be an absolute path",
        "spec.rules[0].http.paths[0].path: Invalid value: \"a//b\": must not contain '//'",
        "spec.rules[0].http.paths[0].backend: Required value: port name or number is required"}},
      {"networking.k8s.io/v1 IngressClass",
       "metadata: {name: x}\nspec: {parameters: {kind: K, name: n, scope: Namespace}}\n",
       {"spec.controller: Required value",
        "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"}},
      {"networking.k8s.io/v1 NetworkPolicy",
       "metadata: {name: x}\nspec: {ingress: [{from: [{}, {ipBlock: {cidr: 10.0.0.0/8, except: "
       "[11.0.0.0/24]}}], ports: [{endPort: 5}]}]}\n",
       {"spec.ingress[0].ports[0].endPort: Invalid value: 5: may not be specified when `port` is "
        "not specified",
        "spec.ingress[0].from[0]: Required value: must specify a peer",
        "spec.ingress[0].from[1].ipBlock.except[0]: Invalid value: \"11.0.0.0/24\": must be a "
        "strict subset of `cidr`"}},
      {"discovery.k8s.io/v1 EndpointSlice",
       "metadata: {name: x}\naddressType: IPv4\nendpoints: [{addresses: [\"::1\"]}, {}]\n"
       "ports: [{name: a}, {name: a}]\n",
       {"endpoints[0].addresses[0]: Invalid value: \"::1\": must be an IPv4 address",
        "endpoints[1].addresses: Required value: must contain at least 1 address",
        "ports[1].name: Duplicate value: \"a\""}},
      {"networking.k8s.io/v1 ServiceCIDR",
       "metadata: {name: x}\nspec: {cidrs: [10.0.0.1/8]}\n",
       {"spec.cidrs[0]: Invalid value: \"10.0.0.1/8\": must be in canonical form"}},
      {"networking.k8s.io/v1 IPAddress",
       "metadata: {name: \"2001:DB8::1\"}\nspec: {parentRef: {resource: services, name: s}}\n",
       {"metadata.name: Invalid value: \"2001:DB8::1\": must be in canonical form "
        "(\"2001:db8::1\")"}},
  });
}

TEST_CASE("limits of a namespace are checked") {
  check_all({
      {"v1 ResourceQuota",
       "metadata: {name: x}\nspec: {hard: {toys: 1, pods: 1500m}}\n",
       {"spec.hard[pods]: Invalid value: \"1500m\": must be an integer",
        "spec.hard[toys]: Invalid value: \"toys\": must be a standard resource type or fully "
        "qualified",
        "spec.hard[toys]: Invalid value: \"toys\": must be a standard resource for quota"}},
      {"v1 ResourceQuota",
       "metadata: {name: x}\nspec: {scopes: [Odd, BestEffort], hard: {cpu: 1, pods: 1}}\n",
       {"spec.scopes: Invalid value: [\"Odd\",\"BestEffort\"]: unsupported scope",
        "spec.scopes: Invalid value: [\"Odd\",\"BestEffort\"]: unsupported scope applied to "
        "resource"}},
      {"v1 ResourceQuota",
       "metadata: {name: x}\nspec: {scopes: [BestEffort, NotBestEffort]}\n",
       {"spec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: conflicting scopes"}},
      {"v1 LimitRange",
       "metadata: {name: x}\nspec: {limits: [{type: Container, min: {cpu: 2}, max: {cpu: 1}}]}\n",
       {"spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1",
        "spec.limits[0].default[cpu]: Invalid value: \"2\": min value 2 is greater than default "
        "value 1",
        "spec.limits[0].defaultRequest[cpu]: Invalid value: \"2\": min value 2 is greater than "
        "default request value 1"}},
      {"v1 LimitRange",
       "metadata: {name: x}\nspec: {limits: [{type: Pod, default: {cpu: 1}}]}\n",
       {"spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"}},
      {"v1 LimitRange",
       "metadata: {name: x}\nspec: {limits: [{type: PersistentVolumeClaim, max: {tea: 1}}]}\n",
       {"spec.limits[0].max[tea]: Invalid value: \"tea\": must be a standard resource type or "
        "fully qualified",
        "spec.limits[0].limits: Required value: either minimum or maximum storage value is "
        "required, but neither was provided"}},
  });
  check_changes({
      {"v1 ResourceQuota",
       "metadata: {name: x}\nspec: {scopes: [BestEffort]}\n",
       "metadata: {name: x}\nspec: {scopes: [Terminating]}\n",
       {"spec.scopes: Invalid value: [\"Terminating\"]: field is immutable"}},
  });
}

TEST_CASE("webhook configurations and admission policies are validated") {
  check_all({
      {"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration",
       "metadata: {name: x}\nwebhooks: [{name: short, clientConfig: {url: \"http://a\"}}]\n",
       {"webhooks[0].name: Invalid value: \"short\": should be a domain with at least three "
        "segments separated by dots",
        "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
        "webhooks[0].clientConfig.url: Invalid value: \"http://a\": 'https' is the only allowed "
        "URL scheme; desired format: https://host[/path]",
        "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"}},
      {"admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding",
       "metadata: {name: x}\nspec: {policyName: p, validationActions: [Deny, Warn]}\n",
       {"spec.validationActions: Invalid value: [\"Deny\",\"Warn\"]: must not contain both Deny "
        "and Warn (repeating the same validation failure information in the API response and "
        "headers serves no purpose)"}},
      {"admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy",
       "metadata: {name: x}\n",
       {"spec.matchConstraints: Required value",
        "spec.validations: Required value: validations or auditAnnotations must contain at least "
        "one item",
        "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at "
        "least one item"}},
  });
}

TEST_CASE("runtimes, leases, certificates and priority classes are checked") {
  check_all({
      {"node.k8s.io/v1 RuntimeClass",
       "metadata: {name: x}\nhandler: Big\n",
       {"handler: Invalid value: \"Big\": a lowercase RFC 1123 label must consist of lower case "
        "alphanumeric characters or '-', and must start and end with an alphanumeric character "
        "(e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"}},
      {"node.k8s.io/v1 RuntimeClass",
       "metadata: {name: x}\nhandler: h\noverhead: {podFixed: {tea: -1}}\n",
       {"overhead.limits[tea]: Invalid value: \"tea\": must be a standard resource type or fully "
        "qualified",
        "overhead.limits[tea]: Invalid value: \"tea\": must be a standard resource for containers",
        "overhead.limits[tea]: Invalid value: \"-1\": must be greater than or equal to 0"}},
      {"coordination.k8s.io/v1 Lease",
       "metadata: {name: x}\nspec: {leaseDurationSeconds: 0, leaseTransitions: -1}\n",
       {"spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
        "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"}},
      {"certificates.k8s.io/v1 CertificateSigningRequest",
       "metadata: {name: x}\nspec: {signerName: plain, request: YQ==, expirationSeconds: 5}\n",
       {"spec.request: Invalid value: \"YQ==\": PEM block type must be CERTIFICATE REQUEST",
        "spec.usages: Required value",
        "spec.signerName: Invalid value: \"plain\": must be a fully qualified domain and path of "
        "the form 'example.com/signer-name'",
        "spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 600 "
        "seconds (10 minutes)"}},
      {"certificates.k8s.io/v1 CertificateSigningRequest",
       "metadata: {name: x}\nspec: {signerName: kubernetes.io/legacy-unknown, request: YQ==, "
       "usages: "
       "[client auth]}\n",
       {"spec.request: Invalid value: \"YQ==\": PEM block type must be CERTIFICATE REQUEST",
        "spec.signerName: Invalid value: \"kubernetes.io/legacy-unknown\": the legacy signerName "
        "is "
        "not allowed via this API version"}},
      {"scheduling.k8s.io/v1 PriorityClass",
       "metadata: {name: system-x}\nvalue: 5\n",
       {"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
        "system use only. error: system-x is not a known system priority class"}},
      {"scheduling.k8s.io/v1 PriorityClass",
       "metadata: {name: system-node-critical}\nvalue: 5\n",
       {"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
        "system use only. error: value of system-node-critical PriorityClass must be 2000001000"}},
  });
}

TEST_CASE("core objects that upstream refuses are refused") {
  const std::string misplaced = "may only be used when `type` is 'LoadBalancer'";
  check_all({
      {"v1 PodTemplate", "metadata: {name: x}\n", {"template.spec.containers: Required value"}},
      {"v1 Secret",
       "metadata: {name: x}\ntype: kubernetes.io/dockercfg\ndata: {.dockercfg: W10=}\n",
       {"data[.dockercfg]: Invalid value: \"<secret contents redacted>\": json: cannot unmarshal "
        "the value into an object"}},
      {"v1 Secret",
       "metadata: {name: x}\ntype: kubernetes.io/dockerconfigjson\ndata: {.dockerconfigjson: "
       "e30=}\n",
       {}},
      {"v1 Node",
       "metadata: {name: x}\nspec: {podCIDRs: [10.0.0.0/24, 10.0.1.0/24, no]}\n",
       {"spec.podCIDRs[2]: Invalid value: \"no\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or "
        "2001:db8::/64)",
        "spec.podCIDRs: Invalid value: [\"10.0.0.0/24\",\"10.0.1.0/24\",\"no\"]: may specify no "
        "more than one CIDR for each IP family"}},
      {"v1 Node", "metadata: {name: x}\nspec: {podCIDRs: [10.0.0.0/24, \"fd00::/64\"]}\n", {}},
      {"v1 Service",
       "metadata: {name: x}\nspec: {ports: [{port: 1}], loadBalancerClass: a, "
       "loadBalancerSourceRanges: [no], allocateLoadBalancerNodePorts: false, "
       "healthCheckNodePort: 30000}\n",
       {"spec.LoadBalancerSourceRanges: Forbidden: " + misplaced,
        "spec.LoadBalancerSourceRanges[0]: Invalid value: \"no\": must be a valid CIDR value, "
        "(e.g. 10.9.8.0/24 or 2001:db8::/64)",
        "spec.allocateLoadBalancerNodePorts: Forbidden: " + misplaced,
        "spec.loadBalancerClass: Forbidden: " + misplaced,
        "spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is "
        "'LoadBalancer' and `externalTrafficPolicy` is 'Local'"}},
      {"v1 Service",
       "metadata: {name: x}\nspec: {type: LoadBalancer, ports: [{port: 1}], loadBalancerClass: "
       "a/b, "
       "loadBalancerSourceRanges: [' 10.0.0.0/8 '], allocateLoadBalancerNodePorts: false}\n",
       {}},
      {"v1 Service",
       "metadata: {name: x}\nspec: {ports: [{port: 1}], externalIPs: [192.0.2.1, 127.0.0.2, '::', "
       "'fe80::1', 224.0.0.5]}\n",
       {"spec.externalIPs[1]: Invalid value: \"127.0.0.2\": may not be in the loopback range "
        "(127.0.0.0/8, ::1/128)",
        "spec.externalIPs[2]: Invalid value: \"::\": may not be unspecified (0.0.0.0 or ::)",
        "spec.externalIPs[3]: Invalid value: \"fe80::1\": may not be in the link-local range "
        "(169.254.0.0/16, fe80::/10)",
        "spec.externalIPs[4]: Invalid value: \"224.0.0.5\": may not be in the link-local multicast "
        "range (224.0.0.0/24, ff02::/10)"}},
  });
  constexpr auto misused =
      "metadata: {name: x}\nspec: {clusterIP: 10.0.0.1, ports: [{port: 1}], loadBalancerClass: "
      "a}\n";
  constexpr auto plain = "metadata: {name: x}\nspec: {clusterIP: 10.0.0.1, ports: [{port: 1}]}\n";
  // An object that was stored before the rules.
  check_changes({
      {"v1 Service", misused, misused, {}},
      {"v1 Service", plain, misused, {"spec.loadBalancerClass: Forbidden: " + misplaced}},
  });
}

TEST_CASE("an event with eventTime must name its reporter") {
  check_all({
      {"v1 Event", "metadata: {name: x}\ninvolvedObject: {namespace: default}\n", {}},
      {"v1 Event",
       "metadata: {name: x}\ninvolvedObject: {namespace: default}\n"
       "eventTime: '2026-01-01T00:00:00.000000Z'\nreportingComponent: a b\naction: a\n",
       {"reportingComponent: Invalid value: \"a b\": " + check_qualified_name("a b").at(0),
        "reportingInstance: Required value", "reason: Required value"}},
  });
  const auto told_of_newer = [](const std::string& rest) {
    const auto read = test::object_from(document("events.k8s.io/v1 Event", rest));
    meta_of(*read.content).set_namespace_("default");
    field_errors out;
    read.kind->row().check_create(out, *read.content);
    return told(out.take());
  };
  CHECK(told_of_newer("metadata: {name: x}\ntype: Odd\nseries: {count: 1}\ndeprecatedCount: 2\n"
                      "regarding: {namespace: other}\n") ==
        lines{"involvedObject.namespace: Invalid value: \"other\": does not match event.namespace",
              "eventTime: Required value",
              "series.count: Invalid value: \"\": should be at least 2",
              "series.lastObservedTime: Required value",
              "type: Invalid value: \"\": has invalid value: Odd",
              "count: Invalid value: \"\": needs to be unset"});
  CHECK(told_of_newer("metadata: {name: x}\ntype: Normal\naction: a\nreason: b\n"
                      "reportingController: c\nreportingInstance: d\n"
                      "eventTime: '2026-01-01T00:00:00.000000Z'\n")
            .empty());
}
