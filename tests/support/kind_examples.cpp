#include "support/kind_examples.hpp"

namespace troupe::test {
namespace {

#define TROUPE_TEMPLATE \
  "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}"

constexpr kind_example examples[] = {
    // -- core
    {"v1", "ConfigMap", "metadata: {name: x}\ndata: {a: b}\n", "x | 1 | AGE"},
    {"v1", "Endpoints", "metadata: {name: x}\n", "x | <none> | AGE"},
    {"v1", "Event",
     "metadata: {name: x}\ninvolvedObject: {kind: Pod, namespace: default, name: p}\n"
     "reason: Tested\ntype: Normal\nmessage: well\n",
     "<unknown> | Normal | Tested | pod/p |  |  | well | <unknown> | 1 | x"},
    {"v1", "LimitRange",
     "metadata: {name: x}\nspec: {limits: [{type: Container, max: {cpu: 1}}]}\n",
     "x | 2023-11-14T22:12:15Z"},
    {"v1", "Namespace", "metadata: {name: x}\n", "x | Active | AGE"},
    {"v1", "Node", "metadata: {name: x}\n",
     "x | Unknown | <none> | AGE |  | <none> | <none> | <unknown> | <unknown> | <unknown>"},
    {"v1", "PersistentVolume",
     "metadata: {name: x}\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], "
     "hostPath: {path: /tmp}}\n",
     "x | 1Gi | RWO | Retain | Pending |  |  | <unset> |  | AGE | Filesystem"},
    {"v1", "PersistentVolumeClaim",
     "metadata: {name: x}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: "
     "1Gi}}}\n",
     "x | Pending |  |  |  |  | <unset> | AGE | Filesystem"},
    {"v1", "Pod", "metadata: {name: x}\nspec: {containers: [{name: c, image: i}]}\n",
     "x | 0/1 | Pending | 0 | AGE | <none> | <none> | <none> | <none>"},
    {"v1", "PodTemplate", "metadata: {name: x}\n" TROUPE_TEMPLATE "\n", "x | c | i | a=b"},
    {"v1", "ReplicationController",
     "metadata: {name: x}\nspec: {replicas: 0, " TROUPE_TEMPLATE "}\n",
     "x | 0 | 0 | 0 | AGE | c | i | a=b"},
    {"v1", "ResourceQuota", "metadata: {name: x}\nspec: {hard: {pods: 4, limits.cpu: 2}}\n",
     "x | AGE | pods: 0/4 | limits.cpu: 0/2"},
    {"v1", "Secret", "metadata: {name: x}\n", "x | Opaque | 0 | AGE"},
    {"v1", "Service", "metadata: {name: x}\nspec: {ports: [{port: 80}]}\n", ""},
    {"v1", "ServiceAccount", "metadata: {name: x}\n", "x | 0 | AGE"},
    // -- workloads
    {"apps/v1", "ControllerRevision", "metadata: {name: x}\ndata: {a: b}\nrevision: 3\n",
     "x | <none> | 3 | AGE"},
    {"apps/v1", "DaemonSet",
     "metadata: {name: x}\nspec: {selector: {matchLabels: {a: b}}, " TROUPE_TEMPLATE "}\n",
     "x | 0 | 0 | 0 | 0 | 0 | <none> | AGE | c | i | a=b"},
    {"apps/v1", "Deployment",
     "metadata: {name: x}\nspec: {replicas: 0, selector: {matchLabels: {a: b}}, " TROUPE_TEMPLATE
     "}\n",
     "x | 0/0 | 0 | 0 | AGE | c | i | a=b"},
    {"apps/v1", "ReplicaSet",
     "metadata: {name: x}\nspec: {replicas: 0, selector: {matchLabels: {a: b}}, " TROUPE_TEMPLATE
     "}\n",
     "x | 0 | 0 | 0 | AGE | c | i | a=b"},
    {"apps/v1", "StatefulSet",
     "metadata: {name: x}\nspec: {serviceName: s, selector: {matchLabels: {a: b}}, " TROUPE_TEMPLATE
     "}\n",
     "x | 0/1 | AGE | c | i"},
    {"batch/v1", "CronJob",
     "metadata: {name: x}\nspec: {schedule: \"*/5 * * * *\", jobTemplate: {spec: {template: {spec: "
     "{restartPolicy: Never, containers: [{name: c, image: i}]}}}}}\n",
     "x | */5 * * * * | <none> | False | 0 | <none> | AGE | c | i | <none>"},
    {"batch/v1", "Job",
     "metadata: {name: x}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, "
     "image: i}]}}}\n",
     "x | Running | 0/1 |  | AGE | c | i | batch.kubernetes.io/controller-uid=u-1"},
    {"autoscaling/v1", "HorizontalPodAutoscaler",
     "metadata: {name: x}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: "
     "d}, maxReplicas: 3, targetCPUUtilizationPercentage: 50}\n",
     "x | Deployment/d | cpu: <unknown>/50% | 1 | 3 | 0 | AGE"},
    {"autoscaling/v2", "HorizontalPodAutoscaler",
     "metadata: {name: x}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: "
     "d}, maxReplicas: 3}\n",
     "x | Deployment/d | cpu: <unknown>/80% | 1 | 3 | 0 | AGE"},
    {"policy/v1", "PodDisruptionBudget",
     "metadata: {name: x}\nspec: {minAvailable: 1, selector: {matchLabels: {a: b}}}\n",
     "x | 1 | N/A | 0 | AGE"},
    // -- networks
    {"discovery.k8s.io/v1", "EndpointSlice",
     "metadata: {name: x}\naddressType: IPv4\nendpoints: [{addresses: [10.0.0.1]}]\n"
     "ports: [{port: 80}]\n",
     "x | IPv4 | 80 | 10.0.0.1 | AGE"},
    {"events.k8s.io/v1", "Event",
     "metadata: {name: x}\nregarding: {kind: Pod, namespace: default, name: p}\n"
     "reason: Tested\ntype: Normal\nnote: well\neventTime: 2023-11-14T22:12:15.000000Z\n"
     "reportingController: example.com/test\nreportingInstance: one\naction: Test\n",
     "AGE | Normal | Tested | pod/p |  | example.com/test, one | well | 65s | 1 | x"},
    {"networking.k8s.io/v1", "IPAddress",
     "metadata: {name: 10.9.0.1}\nspec: {parentRef: {resource: services, namespace: default, name: "
     "s}}\n",
     "10.9.0.1 | services/default/s | AGE"},
    {"networking.k8s.io/v1", "Ingress",
     "metadata: {name: x}\nspec: {rules: [{host: a.example.com, http: {paths: [{path: /, pathType: "
     "Prefix, backend: {service: {name: s, port: {number: 80}}}}]}}]}\n",
     "x | <none> | a.example.com |  | 80 | AGE"},
    {"networking.k8s.io/v1", "IngressClass",
     "metadata: {name: x}\nspec: {controller: example.com/c}\n",
     "x | example.com/c | <none> | AGE"},
    {"networking.k8s.io/v1", "NetworkPolicy",
     "metadata: {name: x}\nspec: {podSelector: {matchLabels: {a: b}}}\n", "x | a=b | AGE"},
    {"networking.k8s.io/v1", "ServiceCIDR", "metadata: {name: x}\nspec: {cidrs: [10.9.0.0/16]}\n",
     "x | 10.9.0.0/16 | AGE"},
    // -- access
    {"rbac.authorization.k8s.io/v1", "ClusterRole",
     "metadata: {name: x}\nrules: [{verbs: [get], apiGroups: [\"\"], resources: [pods]}]\n", ""},
    {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding",
     "metadata: {name: x}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "
     "r}\n"
     "subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: u}]\n",
     "x | ClusterRole/r | AGE | u |  | "},
    {"rbac.authorization.k8s.io/v1", "Role",
     "metadata: {name: x}\nrules: [{verbs: [get], apiGroups: [\"\"], resources: [pods]}]\n", ""},
    {"rbac.authorization.k8s.io/v1", "RoleBinding",
     "metadata: {name: x}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\n"
     "subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: u}]\n",
     "x | Role/r | AGE | u |  | "},
    // -- storage
    {"storage.k8s.io/v1", "CSIDriver", "metadata: {name: d.example.com}\nspec: {}\n",
     "d.example.com | true | false | false | <unset> | false | Persistent | AGE"},
    {"storage.k8s.io/v1", "CSINode",
     "metadata: {name: x}\nspec: {drivers: [{name: d.example.com, nodeID: n}]}\n", "x | 1 | AGE"},
    {"storage.k8s.io/v1", "CSIStorageCapacity",
     "metadata: {name: x}\nstorageClassName: c\ncapacity: 1Gi\n", "x | c | 1Gi | AGE"},
    {"storage.k8s.io/v1", "StorageClass", "metadata: {name: x}\nprovisioner: example.com/p\n",
     "x | example.com/p | Delete | Immediate | false | AGE"},
    {"storage.k8s.io/v1", "VolumeAttachment",
     "metadata: {name: x}\nspec: {attacher: d.example.com, nodeName: n, source: "
     "{persistentVolumeName: v}}\n",
     "x | d.example.com | v | n | false | AGE"},
    // -- the cluster itself
    {"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration",
     "metadata: {name: x}\nwebhooks: [{name: a.b.example.com, sideEffects: None, "
     "admissionReviewVersions: [v1], clientConfig: {url: \"https://example.com/\"}}]\n",
     "x | 1 | AGE"},
    {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy",
     "metadata: {name: x}\nspec: {matchConstraints: {resourceRules: [{operations: [CREATE], "
     "apiGroups: [apps], apiVersions: [v1], resources: [deployments]}]}, validations: "
     "[{expression: \"true\"}]}\n",
     "x | 1 | <unset> | AGE"},
    {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding",
     "metadata: {name: x}\nspec: {policyName: x, validationActions: [Deny]}\n",
     "x | x | <unset> | AGE"},
    {"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
     "metadata: {name: x}\nwebhooks: [{name: a.b.example.com, sideEffects: None, "
     "admissionReviewVersions: [v1], clientConfig: {service: {namespace: n, name: s}}}]\n",
     "x | 1 | AGE"},
    {"apiextensions.k8s.io/v1", "CustomResourceDefinition",
     "metadata: {name: things.example.com}\nspec: {group: example.com, scope: Cluster, names: "
     "{plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true, schema: "
     "{openAPIV3Schema: {type: object}}}]}\n",
     "things.example.com | 2023-11-14T22:12:15Z"},
    {"certificates.k8s.io/v1", "CertificateSigningRequest",
     "metadata: {name: x}\nspec: {signerName: example.com/s, usages: [client auth], request: "
     "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQgotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNU"
     "LS0tLS0K}\n",
     "x | AGE | example.com/s |  | <none> | Pending"},
    {"apiregistration.k8s.io/v1", "APIService",
     "metadata: {name: v1.x}\nspec: {group: x, version: v1, groupPriorityMinimum: 100, "
     "versionPriority: 10}\n",
     "v1.x | Local | True | AGE"},
    {"coordination.k8s.io/v1", "Lease", "metadata: {name: x}\nspec: {holderIdentity: h}\n",
     "x | h | AGE"},
    {"flowcontrol.apiserver.k8s.io/v1", "FlowSchema",
     "metadata: {name: x}\nspec: {priorityLevelConfiguration: {name: l}}\n",
     "x | l | 1000 | <none> | AGE | ?"},
    {"flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration",
     "metadata: {name: x}\nspec: {type: Limited, limited: {limitResponse: {type: Queue, queuing: "
     "{}}}}\n",
     "x | Limited | 30 | 64 | 8 | 50 | AGE"},
    {"node.k8s.io/v1", "RuntimeClass", "metadata: {name: x}\nhandler: h\n", "x | h | AGE"},
    {"scheduling.k8s.io/v1", "PriorityClass", "metadata: {name: x}\nvalue: 7\n",
     "x | 7 | false | AGE | PreemptLowerPriority"},
};

#undef TROUPE_TEMPLATE

}  // namespace

std::span<const kind_example> kind_examples() {
  return examples;
}

}  // namespace troupe::test
