// The objects of components_test.cpp.
#pragma once

namespace troupe::test {

inline constexpr auto workloads = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: work}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: work}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: c}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: work}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
)";

inline constexpr auto more_workloads = R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: work}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: c}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: work}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: c}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: work}
spec:
  template:
    metadata: {annotations: {simulation.troupe.dev/run-time: 100ms}}
    spec: {restartPolicy: Never, containers: [{name: c, image: c}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick, namespace: work}
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: c, image: c}]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: limits, namespace: work}
spec: {hard: {pods: "50"}}
)";

inline constexpr auto old_objects = R"(
apiVersion: batch/v1beta1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: "@yearly"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: c, image: c}]}
---
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: none}
spec: {minAvailable: 1, selector: {}}
---
apiVersion: discovery.k8s.io/v1beta1
kind: EndpointSlice
metadata: {name: one}
addressType: IPv4
endpoints: [{addresses: [10.0.0.1], topology: {kubernetes.io/hostname: n1}}]
)";

}  // namespace troupe::test
