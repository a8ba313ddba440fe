// A typical pod, as a cluster in use has thousands of: 3 KB of JSON.
#pragma once

#include <string_view>

namespace troupe::test {

inline constexpr std::string_view typical_pod = R"({"kind":"Pod","apiVersion":"v1","metadata":{
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

}  // namespace troupe::test
