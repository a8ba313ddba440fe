// kubernetes: plugin/pkg/auth/authorizer/rbac/bootstrappolicy; its bindings and rules in a format
// of our own (see default_policy.hpp).
#include "actors/access/default_policy_text.hpp"

namespace troupe::actors::access {

const std::string_view default_policy_text = R"(
cluster cluster-admin
  * * *
  * *
bind cluster-admin group:system:masters

cluster system:aggregate-to-admin >admin
  create authorization.k8s.io localsubjectaccessreviews
  read,write rbac.authorization.k8s.io rolebindings,roles

cluster system:aggregate-to-edit >edit
  read core pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy
  impersonate core serviceaccounts
  write core pods,pods/attach,pods/exec,pods/portforward,pods/proxy
  create core pods/eviction
  write core configmaps,events,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy
  create core serviceaccounts/token
  write apps daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale
  write autoscaling horizontalpodautoscalers
  write batch cronjobs,jobs
  write extensions daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale
  write policy poddisruptionbudgets
  write networking.k8s.io ingresses,networkpolicies
  read,write coordination.k8s.io leases

cluster system:aggregate-to-view >view
  read core configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status
  read core bindings,events,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status
  read core namespaces
  read discovery.k8s.io endpointslices
  read apps controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status
  read autoscaling horizontalpodautoscalers,horizontalpodautoscalers/status
  read batch cronjobs,cronjobs/status,jobs,jobs/status
  read extensions daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale
  read policy poddisruptionbudgets,poddisruptionbudgets/status
  read networking.k8s.io ingresses,ingresses/status,networkpolicies

# Not of Kubernetes itself: metrics-server, manifests/base/rbac.yaml.
cluster system:aggregated-metrics-reader >view >edit >admin
  read metrics.k8s.io nodes,pods

cluster system:auth-delegator
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io subjectaccessreviews

cluster system:basic-user
  create authorization.k8s.io selfsubjectaccessreviews,selfsubjectrulesreviews
  create authentication.k8s.io selfsubjectreviews
bind system:basic-user group:system:authenticated

cluster system:certificates.k8s.io:certificatesigningrequests:nodeclient
  create certificates.k8s.io certificatesigningrequests/nodeclient
cluster system:certificates.k8s.io:certificatesigningrequests:selfnodeclient
  create certificates.k8s.io certificatesigningrequests/selfnodeclient
cluster system:certificates.k8s.io:kube-apiserver-client-approver
  approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client
cluster system:certificates.k8s.io:kube-apiserver-client-kubelet-approver
  approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client-kubelet
cluster system:certificates.k8s.io:kubelet-serving-approver
  approve certificates.k8s.io signers kubernetes.io/kubelet-serving
cluster system:certificates.k8s.io:legacy-unknown-approver
  approve certificates.k8s.io signers kubernetes.io/legacy-unknown

cluster system:discovery
  get /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/
bind system:discovery group:system:authenticated

cluster system:heapster
  read core events,namespaces,nodes,pods
  read extensions deployments

cluster system:kube-aggregator
  read core endpoints,services

cluster system:kube-controller-manager
  events
  create coordination.k8s.io leases
  get,update coordination.k8s.io leases kube-controller-manager
  create core secrets,serviceaccounts
  delete core secrets
  get core configmaps,namespaces,secrets,serviceaccounts
  update core secrets,serviceaccounts
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io subjectaccessreviews
  list,watch * *
  create core serviceaccounts/token
bind system:kube-controller-manager user:system:kube-controller-manager

cluster system:kube-dns
  list,watch core endpoints,services
bind system:kube-dns account:kube-system/kube-dns

cluster system:kube-scheduler
  events
  create coordination.k8s.io leases
  get,update coordination.k8s.io leases kube-scheduler
  read core nodes
  read,delete core pods
  create core bindings,pods/binding
  patch,update core pods/status
  read core replicationcontrollers,services
  read apps,extensions replicasets
  read apps statefulsets
  read policy poddisruptionbudgets
  read core persistentvolumeclaims,persistentvolumes
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io subjectaccessreviews
  read storage.k8s.io csinodes
  read core namespaces
  read storage.k8s.io csidrivers
  read storage.k8s.io csistoragecapacities
bind system:kube-scheduler user:system:kube-scheduler

cluster system:kubelet-api-admin
  read core nodes
  proxy core nodes
  * core nodes/log,nodes/metrics,nodes/proxy,nodes/stats

cluster system:monitoring
  get /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*
bind system:monitoring group:system:monitoring

cluster system:node
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io localsubjectaccessreviews,subjectaccessreviews
  read core services
  read,create core nodes
  patch,update core nodes/status
  patch,update core nodes
  create,patch,update core events
  read core pods
  create,delete core pods
  patch,update core pods/status
  create core pods/eviction
  read core configmaps,secrets
  get core persistentvolumeclaims,persistentvolumes
  get core endpoints
  read,create certificates.k8s.io certificatesigningrequests
  create,delete,get,patch,update coordination.k8s.io leases
  get storage.k8s.io volumeattachments
  create core serviceaccounts/token
  get,patch,update core persistentvolumeclaims/status
  read storage.k8s.io csidrivers
  create,delete,get,patch,update storage.k8s.io csinodes
  read node.k8s.io runtimeclasses
bind system:node

cluster system:node-bootstrapper
  read,create certificates.k8s.io certificatesigningrequests

cluster system:node-problem-detector
  get core nodes
  patch core nodes/status
  events

cluster system:node-proxier
  list,watch core endpoints,services
  read core nodes
  events
  list,watch discovery.k8s.io endpointslices
bind system:node-proxier user:system:kube-proxy

cluster system:persistent-volume-provisioner
  read,create,delete core persistentvolumes
  read,update core persistentvolumeclaims
  read storage.k8s.io storageclasses
  watch core events
  events

cluster system:public-info-viewer
  get /healthz,/livez,/readyz,/version,/version/
bind system:public-info-viewer group:system:authenticated group:system:unauthenticated

cluster system:service-account-issuer-discovery
  get /.well-known/openid-configuration,/openid/v1/jwks
bind system:service-account-issuer-discovery group:system:serviceaccounts

cluster system:volume-scheduler
  read,patch,update core persistentvolumes
  read storage.k8s.io storageclasses
  read,patch,update core persistentvolumeclaims
bind system:volume-scheduler user:system:kube-scheduler

controller attachdetach-controller
  list,watch core persistentvolumeclaims,persistentvolumes
  read core nodes
  patch,update core nodes/status
  list,watch core pods
  events
  read,create,delete storage.k8s.io volumeattachments
  read storage.k8s.io csidrivers
  read storage.k8s.io csinodes
controller certificate-controller
  read,delete certificates.k8s.io certificatesigningrequests
  update certificates.k8s.io certificatesigningrequests/approval,certificatesigningrequests/status
  approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client-kubelet
  sign certificates.k8s.io signers kubernetes.io/kube-apiserver-client,kubernetes.io/kube-apiserver-client-kubelet,kubernetes.io/kubelet-serving,kubernetes.io/legacy-unknown
  create authorization.k8s.io subjectaccessreviews
  events
controller clusterrole-aggregation-controller
  read,escalate,patch,update rbac.authorization.k8s.io clusterroles
controller cronjob-controller
  read,update batch cronjobs
  read,create,delete,patch,update batch jobs
  update batch cronjobs/status
  update batch cronjobs/finalizers
  delete,list core pods
  events
controller daemon-set-controller
  read apps,extensions daemonsets
  update apps,extensions daemonsets/status
  update apps,extensions daemonsets/finalizers
  list,watch core nodes
  create,delete,list,patch,watch core pods
  create core pods/binding
  read,create,delete,patch,update apps controllerrevisions
  events
controller deployment-controller
  read,update apps,extensions deployments
  update apps,extensions deployments/status
  update apps,extensions deployments/finalizers
  read,create,delete,patch,update apps,extensions replicasets
  read,update core pods
  events
controller disruption-controller
  read apps,extensions deployments
  read apps,extensions replicasets
  read core replicationcontrollers
  read policy poddisruptionbudgets
  read apps statefulsets
  update policy poddisruptionbudgets/status
  patch,update core pods/status
  get * */scale
  events
controller endpoint-controller
  read core pods,services
  create,delete,get,list,update core endpoints
  create core endpoints/restricted
  events
controller endpointslice-controller
  read core nodes,pods,services
  update core services/finalizers
  create,delete,get,list,update discovery.k8s.io endpointslices
  events
controller endpointslicemirroring-controller
  read core endpoints,services
  update core services/finalizers
  update core endpoints/finalizers
  create,delete,get,list,update discovery.k8s.io endpointslices
  events
controller ephemeral-volume-controller
  read core pods
  update core pods/finalizers
  read,create core persistentvolumeclaims
  events
controller expand-controller
  read,patch,update core persistentvolumes
  patch,update core persistentvolumeclaims/status
  read core persistentvolumeclaims
  read storage.k8s.io storageclasses
  get core endpoints,services
  get core secrets
  events
controller generic-garbage-collector
  read,delete,patch,update * *
  events
controller horizontal-pod-autoscaler
  read autoscaling horizontalpodautoscalers
  update autoscaling horizontalpodautoscalers/status
  get,update * */scale
  list core pods
  list metrics.k8s.io pods
  get,list custom.metrics.k8s.io *
  get,list external.metrics.k8s.io *
  events
controller job-controller
  read,patch,update batch jobs
  update batch jobs/status
  update batch jobs/finalizers
  create,delete,list,patch,watch core pods
  events
controller legacy-service-account-token-cleaner
  get core configmaps kube-apiserver-legacy-service-account-token-tracking
  delete,patch core secrets
controller namespace-controller
  read,delete core namespaces
  update core namespaces/finalize,namespaces/status
  delete,deletecollection,get,list * *
controller node-controller
  delete,get,list,patch,update core nodes
  patch,update core nodes/status
  patch,update core pods/status
  delete,get,list core pods
  events
controller persistent-volume-binder
  read,create,delete,update core persistentvolumes
  update core persistentvolumes/status
  read,update core persistentvolumeclaims
  update core persistentvolumeclaims/status
  read,create,delete core pods
  read storage.k8s.io storageclasses
  create,delete,get,update core endpoints
  create,delete,get core services
  get core secrets
  get,list core nodes
  watch core events
  events
controller pod-garbage-collector
  delete,list,watch core pods
  get,list core nodes
  patch core pods/status
controller pv-protection-controller
  read,update core persistentvolumes
  events
controller pvc-protection-controller
  read,update core persistentvolumeclaims
  read core pods
  events
controller replicaset-controller
  read,update apps,extensions replicasets
  update apps,extensions replicasets/status
  update apps,extensions replicasets/finalizers
  create,delete,list,patch,watch core pods
  events
controller replication-controller
  read,update core replicationcontrollers
  update core replicationcontrollers/status
  update core replicationcontrollers/finalizers
  create,delete,list,patch,watch core pods
  events
controller resourcequota-controller
  list,watch * *
  update core resourcequotas/status
  events
controller root-ca-cert-publisher
  create,update core configmaps
  events
controller route-controller
  list,watch core nodes
  patch core nodes/status
  events
controller service-account-controller
  create core serviceaccounts
  events
controller service-cidrs-controller
  read,patch,update networking.k8s.io servicecidrs
  patch,update networking.k8s.io servicecidrs/finalizers
  patch,update networking.k8s.io servicecidrs/status
  read networking.k8s.io ipaddresses
  events
controller service-controller
  read core services
  patch,update core services/status
  list,watch core nodes
  events
controller statefulset-controller
  list,watch core pods
  read apps statefulsets
  update apps statefulsets/status
  update apps statefulsets/finalizers
  create,delete,get,patch,update core pods
  read,create,delete,patch,update apps controllerrevisions
  create,get core persistentvolumeclaims
  events
  delete,update core persistentvolumeclaims
controller ttl-after-finished-controller
  read,delete batch jobs
  events
controller ttl-controller
  list,patch,update,watch core nodes
  events
controller validatingadmissionpolicy-status-controller
  read admissionregistration.k8s.io validatingadmissionpolicies
  get,patch,update admissionregistration.k8s.io validatingadmissionpolicies/status
  events

aggregate view view >edit
aggregate edit edit >admin
aggregate admin admin

role kube-system extension-apiserver-authentication-reader
  read core configmaps extension-apiserver-authentication
grant kube-system system::extension-apiserver-authentication-reader extension-apiserver-authentication-reader user:system:kube-controller-manager user:system:kube-scheduler
role kube-system system::leader-locking-kube-controller-manager
  watch core configmaps
  get,update core configmaps kube-controller-manager
  create,get,list,update,watch coordination.k8s.io leases
grant kube-system system::leader-locking-kube-controller-manager system::leader-locking-kube-controller-manager user:system:kube-controller-manager account:kube-system/kube-controller-manager
role kube-system system::leader-locking-kube-scheduler
  watch core configmaps
  get,update core configmaps kube-scheduler
grant kube-system system::leader-locking-kube-scheduler system::leader-locking-kube-scheduler user:system:kube-scheduler account:kube-system/kube-scheduler
role kube-system system:controller:bootstrap-signer
  read core secrets
grant kube-system system:controller:bootstrap-signer system:controller:bootstrap-signer account:kube-system/bootstrap-signer
role kube-system system:controller:cloud-provider
  read,create core configmaps
grant kube-system system:controller:cloud-provider system:controller:cloud-provider account:kube-system/cloud-provider
role kube-system system:controller:token-cleaner
  read,delete core secrets
  events
grant kube-system system:controller:token-cleaner system:controller:token-cleaner account:kube-system/token-cleaner
role kube-public system:controller:bootstrap-signer
  read core configmaps
  update core configmaps cluster-info
  events
grant kube-public system:controller:bootstrap-signer system:controller:bootstrap-signer account:kube-system/bootstrap-signer
)";

}  // namespace troupe::actors::access
