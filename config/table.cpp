#include "config/table.hpp"

#include "config/access.hpp"

namespace troupe::config {

namespace {

constexpr std::int64_t second = 1'000;
constexpr std::int64_t minute = 60 * second;
constexpr std::int64_t hour = 60 * minute;
constexpr std::int64_t day = 24 * hour;
constexpr std::int64_t kibibyte = 1 << 10;
constexpr std::int64_t mebibyte = 1 << 20;
constexpr std::int64_t gibibyte = 1 << 30;

using node = node_config;
using server = server_config;
using store = store_config;
using etcd = etcd_config;
using kubelet = kubelet_config;
using accounts = service_account_config;
using security = pod_security_config;
using cluster = cluster_config;
using scheduler = scheduler_config;

constexpr setting rows[] = {
    {.name = "data_dir",
     .at = at<&node::data_dir>(),
     .about = "Folder with all data of the node: the store, certificates, the admin kubeconfig. "
              "Created with mode 0700 if it does not exist."},
    {.name = "controllers",
     .at = at<&node::controllers>(),
     .about = "Controllers that run while this control plane leads: * is all, NAME enables one, "
              "-NAME disables one; the first entry that names a controller applies. Upstream's "
              "names are accepted, too."},

    {.name = "server.listen",
     .at = at<&node::server, &server::listen>(),
     .about = "Address of the API over HTTPS; port 0 chooses a free port.",
     .brief = true},
    {.name = "server.legacy_listen",
     .at = at<&node::server, &server::legacy_listen>(),
     .about =
         "Address of the v1beta1 API of 2014 over plain HTTP, without authentication. Clients must "
         "call it by an IP address, localhost, the machine's name or one of server.names.",
     .brief = true,
     .when_empty = "not served"},
    {.name = "server.max_body",
     .at = at<&node::server, &server::max_body>(),
     .about = "The maximum size of a request's body; a larger one is answered with 413, a "
              "compressed one with 415.",
     .unit = "bytes",
     .minimum = 64 * kibibyte,
     .maximum = 64 * mebibyte},
    {.name = "server.max_reads_in_flight",
     .at = at<&node::server, &server::max_reads_in_flight>(),
     .about = "The maximum of concurrent reads; further ones are answered with 429. Watches do not "
              "count. One user who is not an administrator gets at most half of them.",
     .unit = "requests",
     .minimum = 1,
     .maximum = 100'000},
    {.name = "server.max_writes_in_flight",
     .at = at<&node::server, &server::max_writes_in_flight>(),
     .about = "The maximum of concurrent writes; further ones are answered with 429. One user who "
              "is not an administrator gets at most half of them.",
     .unit = "requests",
     .minimum = 1,
     .maximum = 100'000},
    {.name = "server.max_connections",
     .at = at<&node::server, &server::max_connections>(),
     .about = "The maximum of open connections. At most half are of unauthenticated clients: the "
              "oldest idle one of these is closed for a new one.",
     .unit = "connections",
     .minimum = 1,
     .maximum = 1'000'000},
    {.name = "server.request_timeout",
     .at = at<&node::server, &server::request_timeout>(),
     .about = "Timeout of a request, except watches and followed logs.",
     .unit = "time",
     .minimum = second,
     .maximum = hour},
    {.name = "server.idle_timeout",
     .at = at<&node::server, &server::idle_timeout>(),
     .about = "How long a connection without a request stays open.",
     .unit = "time",
     .minimum = second,
     .maximum = day},
    {.name = "server.names",
     .at = at<&node::server, &server::names>(),
     .about = "Additional names and addresses of the server; its certificate includes them, and "
              "the first one is used in the command that `troupe token create` prints."},
    {.name = "server.anonymous_access",
     .at = at<&node::server, &server::anonymous_access>(),
     .about = "Whether requests without credentials are accepted as system:anonymous, who may read "
              "health and version and has the rights of its roles; 'off' answers them with 401."},
    {.name = "server.removed_versions",
     .at = at<&node::server, &server::removed_versions>(),
     .about = "Whether batch/v1beta1 CronJob, discovery.k8s.io/v1beta1 and policy/v1beta1 are "
              "served besides v1, for kube-controller-manager and kube-scheduler 1.20; Kubernetes "
              "removed them in 1.25.",
     .brief = true},
    {.name = "server.node_certificate_life",
     .at = at<&node::server, &server::node_certificate_lifetime>(),
     .about =
         "Validity of a joined node's certificate; the node renews it when a third of it is left.",
     .unit = "time",
     .minimum = second,
     .maximum = 366 * day},

    {.name = "service_account.issuer",
     .at = at<&node::service_account, &accounts::issuer>(),
     .about = "Issuers of service account tokens, as https URLs: the first one signs, tokens of "
              "the others are accepted as well."},
    {.name = "service_account.api_audiences",
     .at = at<&node::service_account, &accounts::api_audiences>(),
     .about =
         "Audiences that this API accepts in service account tokens; the default is the issuer.",
     .brief = true},
    {.name = "service_account.legacy_token_secrets",
     .at = at<&node::service_account, &accounts::legacy_token_secrets>(),
     .about = "Whether each service account gets a Secret with a token that does not expire, as in "
              "clusters up to 1.23.",
     .brief = true},

    {.name = "pod_security.enforce",
     .at = at<&node::pod_security, &security::enforce>(),
     .about = "The enforced level of the Pod Security Standards in namespaces without the label "
              "pod-security.kubernetes.io/enforce."},
    {.name = "pod_security.audit",
     .at = at<&node::pod_security, &security::audit>(),
     .about = "The level whose violations are recorded in the audit log, in namespaces without the "
              "label pod-security.kubernetes.io/audit."},
    {.name = "pod_security.warn",
     .at = at<&node::pod_security, &security::warn>(),
     .about = "The level whose violations cause a warning to the client, in namespaces without the "
              "label pod-security.kubernetes.io/warn."},
    {.name = "pod_security.exempt_namespaces",
     .at = at<&node::pod_security, &security::exempt_namespaces>(),
     .about = "Namespaces whose pods are not checked, whatever their labels say."},
    {.name = "pod_security.exempt_users",
     .at = at<&node::pod_security, &security::exempt_users>(),
     .about = "Users whose pods are not checked. The pods of a workload are created by "
              "system:kube-controller-manager, not by the workload's author."},
    {.name = "pod_security.exempt_runtime_classes",
     .at = at<&node::pod_security, &security::exempt_runtime_classes>(),
     .about = "Runtime classes whose pods are not checked."},

    {.name = "etcd.endpoints",
     .at = at<&node::etcd, &etcd::endpoints>(),
     .about = "The members of etcd, as https://10.0.0.1:2379; one is used at a time, the next one "
              "if it fails."},
    {.name = "etcd.ca",
     .at = at<&node::etcd, &etcd::ca>(),
     .about = "File with the CA certificates that must have signed etcd's certificate.",
     .when_empty = "the machine's CA certificates",
     .file = true},
    {.name = "etcd.cert",
     .at = at<&node::etcd, &etcd::cert>(),
     .about = "File with the client certificate of this control plane for etcd.",
     .when_empty = "none",
     .file = true},
    {.name = "etcd.key",
     .at = at<&node::etcd, &etcd::key>(),
     .about = "File with the key of that certificate.",
     .when_empty = "none",
     .file = true},
    {.name = "etcd.leader_lease",
     .at = at<&node::etcd, &etcd::leader_lease>(),
     .about = "How long a leading control plane may be silent before another one takes over.",
     .unit = "time",
     .minimum = 2 * second,
     .maximum = 10 * minute},
    {.name = "etcd.compaction_interval",
     .at = at<&node::etcd, &etcd::compaction_interval>(),
     .about = "How often the leading control plane compacts etcd to the revision of one interval "
              "ago; 0: never, so that etcd's own compaction must be on.",
     .unit = "time",
     .minimum = 0,
     .maximum = 24 * hour},
    {.name = "etcd.transaction_timeout",
     .at = at<&node::etcd, &etcd::transaction_timeout>(),
     .about = "How long a member of etcd has for a transaction, before another member is used and "
              "the outcome is found out; at least two of etcd's election timeouts.",
     .unit = "time",
     .minimum = 100,
     .maximum = minute},
    {.name = "etcd.read_timeout",
     .at = at<&node::etcd, &etcd::read_timeout>(),
     .about = "How long a member of etcd has for a read or the renewal of a lease, before another "
              "member is used.",
     .unit = "time",
     .minimum = 100,
     .maximum = minute},
    {.name = "etcd.answer_timeout",
     .at = at<&node::etcd, &etcd::answer_timeout>(),
     .about =
         "How long a request waits for etcd, over all attempts, before it is answered with 503 "
         "or 504; etcd gives up a transaction after 5s and two of its election timeouts.",
     .unit = "time",
     .minimum = second,
     .maximum = 30 * second},
    {.name = "storage.target",
     .at = at<&node::etcd, &etcd::storage_target>(),
     .about = "With etcd: the release of Kubernetes in whose versions and encoding objects are "
              "stored, so that this release can be started on the same etcd again."},
    {.name = "store.store",
     .at = at<&node::store, &store::store>(),
     .about = "Location of the cluster's state: this node's own store, or an etcd that several "
              "control planes share.",
     .brief = true},
    {.name = "store.history_revisions",
     .at = at<&node::store, &store::history_revisions>(),
     .about = "The minimum of revisions that the change log keeps; a watch from an older revision "
              "ends with 410.",
     .unit = "revisions",
     .minimum = 100,
     .maximum = 100'000'000},
    {.name = "store.history_time",
     .at = at<&node::store, &store::history_time>(),
     .about = "The minimum time that the change log keeps each change.",
     .unit = "time",
     .minimum = second,
     .maximum = 30 * day},
    {.name = "store.history_bytes",
     .at = at<&node::store, &store::history_bytes>(),
     .about = "The maximum disk space of the change log: beyond it the oldest changes are removed, "
              "however few and recent they are. Never more than an eighth of the disk.",
     .unit = "bytes",
     .minimum = mebibyte,
     .maximum = mebibyte * mebibyte},
    {.name = "store.max_events",
     .at = at<&node::store, &store::max_events>(),
     .about = "The maximum of stored Event objects; beyond it the oldest are deleted before their "
              "hour is over.",
     .unit = "events",
     .minimum = 100,
     .maximum = 10'000'000},
    {.name = "store.max_event_bytes",
     .at = at<&node::store, &store::max_event_bytes>(),
     .about = "The maximum memory of all Event objects; beyond it the oldest are deleted before "
              "their hour is over.",
     .unit = "bytes",
     .minimum = mebibyte,
     .maximum = 4'096 * mebibyte},

    {.name = "kubelet.node_name",
     .at = at<&node::kubelet, &kubelet::node_name>(),
     .about = "Name of this machine's node.",
     .derived = "the host's name in lower case",
     .brief = true},
    {.name = "kubelet.second_address",
     .at = at<&node::kubelet, &kubelet::second_address>(),
     .about = "Second address of this machine's node, of the other IP family than the first.",
     .when_empty = "the address of that family on the interface of the first, if pods or services "
                   "may have IPv6 addresses"},
    {.name = "kubelet.root_dir",
     .at = at<&node::kubelet, &kubelet::root_dir>(),
     .about =
         "Folder of pods' files: volumes, logs, state of containers. Must not be shared by nodes.",
     .derived = "DATA-DIR/kubelet",
     .brief = true},
    {.name = "kubelet.runtime",
     .at = at<&node::kubelet, &kubelet::runtime>(),
     .about = "How containers run: 'cri' runs their images by containerd or another container "
              "runtime, 'process' starts command and args, or only args, as child processes of the "
              "node, 'simulated' starts nothing and changes the status of pods at once; 'auto' is "
              "cri if a runtime answers at startup, otherwise process.",
     .brief = true},
    {.name = "kubelet.cri_endpoint",
     .at = at<&node::kubelet, &kubelet::cri_endpoint>(),
     .about = "Socket of the container runtime.",
     .brief = true,
     .file = true},
    {.name = "kubelet.simulated_nodes",
     .at = at<&node::kubelet, &kubelet::simulated_nodes>(),
     .about = "Number of nodes of the simulated runtime.",
     .unit = "nodes",
     .minimum = 1,
     .maximum = 100'000,
     .brief = true},
    {.name = "kubelet.simulation_policy",
     .at = at<&node::kubelet, &kubelet::simulation_policy>(),
     .about = "File with a SimulationPolicy: the behaviour of simulated pods and nodes.",
     .brief = true,
     .when_empty = "only annotations apply"},
    {.name = "kubelet.max_pods",
     .at = at<&node::kubelet, &kubelet::max_pods>(),
     .about = "The maximum of pods on a node, simulated ones included.",
     .unit = "pods",
     .minimum = 1,
     .maximum = 100'000},
    {.name = "kubelet.pod_pids_limit",
     .at = at<&node::kubelet, &kubelet::pod_pids_limit>(),
     .about = "The maximum of processes and threads of the containers of one pod, if the machine's "
              "control groups count them.",
     .unit = "processes",
     .minimum = 16,
     .maximum = 4'194'304},
    {.name = "kubelet.kube_reserved_cpu",
     .at = at<&node::kubelet, &kubelet::kube_reserved_cpu>(),
     .about = "CPU reserved for the node's process and its container runtime; it is not "
              "allocatable to pods.",
     .unit = "millicores",
     .minimum = 0,
     .maximum = 1'000'000},
    {.name = "kubelet.kube_reserved_memory",
     .at = at<&node::kubelet, &kubelet::kube_reserved_memory>(),
     .about = "Memory reserved for the node's process and its container runtime; it is not "
              "allocatable to pods.",
     .unit = "bytes",
     .minimum = 0,
     .maximum = mebibyte * mebibyte},
    {.name = "kubelet.system_reserved_cpu",
     .at = at<&node::kubelet, &kubelet::system_reserved_cpu>(),
     .about = "CPU reserved for the rest of the machine.",
     .unit = "millicores",
     .minimum = 0,
     .maximum = 1'000'000},
    {.name = "kubelet.system_reserved_memory",
     .at = at<&node::kubelet, &kubelet::system_reserved_memory>(),
     .about = "Memory reserved for the rest of the machine.",
     .unit = "bytes",
     .minimum = 0,
     .maximum = mebibyte * mebibyte},
    {.name = "kubelet.eviction_memory",
     .at = at<&node::kubelet, &kubelet::eviction_memory>(),
     .about = "The node evicts pods if less memory than this is available; it is not allocatable "
              "to pods.",
     .unit = "bytes",
     .minimum = 0,
     .maximum = mebibyte * mebibyte},
    {.name = "kubelet.eviction_disk",
     .at = at<&node::kubelet, &kubelet::eviction_disk>(),
     .about =
         "The node evicts pods if less of the disk of root_dir than this is available; 0: never.",
     .unit = "per cent",
     .minimum = 0,
     .maximum = 99},
    {.name = "kubelet.eviction_soft_memory",
     .at = at<&node::kubelet, &kubelet::eviction_soft_memory>(),
     .about = "The node evicts pods, with their own grace period, if less memory than this is "
              "available for eviction_soft_grace_period; 0: never.",
     .unit = "bytes",
     .minimum = 0,
     .maximum = mebibyte * mebibyte},
    {.name = "kubelet.eviction_soft_disk",
     .at = at<&node::kubelet, &kubelet::eviction_soft_disk>(),
     .about = "The same for the disk of root_dir.",
     .unit = "per cent",
     .minimum = 0,
     .maximum = 99},
    {.name = "kubelet.eviction_soft_grace_period",
     .at = at<&node::kubelet, &kubelet::eviction_soft_grace_period>(),
     .about = "How long a soft threshold must be exceeded before pods are evicted.",
     .unit = "time",
     .minimum = 0,
     .maximum = hour},
    {.name = "kubelet.eviction_max_pod_grace_period",
     .at = at<&node::kubelet, &kubelet::eviction_max_pod_grace_period>(),
     .about = "The maximum grace period of a pod that is evicted for a soft threshold.",
     .unit = "time",
     .minimum = 0,
     .maximum = hour},
    {.name = "kubelet.image_gc_high_threshold",
     .at = at<&node::kubelet, &kubelet::image_gc_high_threshold>(),
     .about = "Unused images are removed if more of their disk than this is in use; 100: only for "
              "their age. Of the runtime cri, as the next three.",
     .unit = "per cent",
     .minimum = 1,
     .maximum = 100},
    {.name = "kubelet.image_gc_low_threshold",
     .at = at<&node::kubelet, &kubelet::image_gc_low_threshold>(),
     .about = "They are removed, the least recently used first, until this much is in use.",
     .unit = "per cent",
     .minimum = 0,
     .maximum = 99},
    {.name = "kubelet.image_minimum_gc_age",
     .at = at<&node::kubelet, &kubelet::image_minimum_gc_age>(),
     .about = "How long an image stays on the node before it may be removed.",
     .unit = "time",
     .minimum = 0,
     .maximum = 30 * day},
    {.name = "kubelet.image_maximum_gc_age",
     .at = at<&node::kubelet, &kubelet::image_maximum_gc_age>(),
     .about = "An image that is unused for longer is removed even if the disk has room; 0: never.",
     .unit = "time",
     .minimum = 0,
     .maximum = 366 * day},
    {.name = "kubelet.container_log_max_size",
     .at = at<&node::kubelet, &kubelet::container_log_max_size>(),
     .about = "A container's log file that reaches this size is rotated.",
     .unit = "bytes",
     .minimum = 64 * kibibyte,
     .maximum = 16 * gibibyte},
    {.name = "kubelet.container_log_max_files",
     .at = at<&node::kubelet, &kubelet::container_log_max_files>(),
     .about = "The maximum of log files of one run of a container, with the current one.",
     .unit = "files",
     .minimum = 2,
     .maximum = 1'000},
    {.name = "kubelet.allowed_unsafe_sysctls",
     .at = at<&node::kubelet, &kubelet::allowed_unsafe_sysctls>(),
     .about = "Kernel parameters that pods may set in addition to the safe ones, as kernel.msgmax "
              "or net.*; they must belong to a pod's own namespaces."},
    {.name = "kubelet.shutdown_grace_period",
     .at = at<&node::kubelet, &kubelet::shutdown_grace_period>(),
     .about = "Time for pods to terminate when the machine shuts down; 0: no graceful shutdown, "
              "the system ends them.",
     .unit = "time",
     .minimum = 0,
     .maximum = hour},
    {.name = "kubelet.shutdown_grace_period_critical_pods",
     .at = at<&node::kubelet, &kubelet::shutdown_grace_period_critical_pods>(),
     .about = "The part of it that is reserved for system-critical pods, which terminate after the "
              "others.",
     .unit = "time",
     .minimum = 0,
     .maximum = hour},
    {.name = "kubelet.lease_duration",
     .at = at<&node::kubelet, &kubelet::lease_duration>(),
     .about = "Validity of the node's lease after its last renewal.",
     .unit = "time",
     .minimum = second,
     .maximum = hour},
    {.name = "kubelet.lease_renew",
     .at = at<&node::kubelet, &kubelet::lease_renew>(),
     .about = "How often the node renews its lease.",
     .unit = "time",
     .minimum = second / 10,
     .maximum = hour},
    {.name = "kubelet.status_period",
     .at = at<&node::kubelet, &kubelet::status_period>(),
     .about = "How often the node reports its status if nothing has changed.",
     .unit = "time",
     .minimum = second,
     .maximum = day},

    {.name = "link.listen",
     .at = at<&node::link, &link_config::listen>(),
     .about = "Address for joined nodes, open from the first token or joined node on; port 0 "
              "chooses a free port.",
     .when_empty = "the host of server.listen and the next port"},

    {.name = "network.mode",
     .at = at<&node::network, &network_config::mode>(),
     .about = "The parts of the cluster network on this machine; they require root and nft. "
              "'services': cluster addresses, node ports and names of services, with DNS at "
              "10.96.0.10. 'pods': also addresses and routes for pods, which run from images. "
              "'auto': 'pods' if that is possible, otherwise 'none'."},
    {.name = "network.pod_cidrs",
     .at = at<&node::network, &network_config::pod_cidrs>(),
     .about = "The address range of all pods, the same on every machine of the cluster, or one of "
              "IPv4 and one of IPv6; each node gets a part of it. Without a range nodes get none."},
    {.name = "network.node_cidr_mask_size",
     .at = at<&node::network, &network_config::node_cidr_mask_size>(),
     .about = "The prefix length of a node's part of that range.",
     .unit = "bits",
     .minimum = 8,
     .maximum = 30},
    {.name = "network.routes",
     .at = at<&node::network, &network_config::routes>(),
     .about = "How pods on other machines are reached: 'direct' for machines on a common link, "
              "'vxlan' through UDP port 8472, 'auto' by the first that is possible."},
    {.name = "network.service_cidrs",
     .at = at<&node::network, &network_config::service_cidrs>(),
     .about = "The address ranges of services, the same on every machine of the cluster: "
              "10.96.0.0/12, which is fixed, and optionally one IPv6 range from /97 to /124, such "
              "as fd00:10:96::/112. With it, services can have IPv6 addresses, alone or in "
              "addition to IPv4."},
    {.name = "network.dns_listen",
     .at = at<&node::network, &network_config::dns_listen>(),
     .about = "Address of the DNS server for names of services, over UDP and TCP.",
     .when_empty = "10.96.0.10:53 if service rules are active, otherwise none"},

    {.name = "minions.grace_period",
     .at = at<&node::minions, &minions_config::grace_period>(),
     .about = "A node without a heartbeat for this time becomes NotReady.",
     .unit = "time",
     .minimum = second,
     .maximum = hour},

    {.name = "cluster.max_pods",
     .at = at<&node::cluster, &cluster::max_pods>(),
     .about = "The maximum of pods in the cluster: further creations are rejected with 403, and "
              "controllers wait. 0: twice the capacity of all nodes, at least 10000.",
     .unit = "pods",
     .maximum = 100'000'000},
    {.name = "cluster.max_objects",
     .at = at<&node::cluster, &cluster::max_objects>(),
     .about = "The maximum of objects of all kinds in the store; nodes and leases are exempt. 0: "
              "no limit.",
     .unit = "objects",
     .maximum = 1'000'000'000},
    {.name = "cluster.max_bytes",
     .at = at<&node::cluster, &cluster::max_bytes>(),
     .about = "The maximum of stored bytes of all objects; further creations are rejected, except "
              "nodes and leases. 0: no limit.",
     .unit = "bytes",
     .maximum = kibibyte * gibibyte},
    {.name = "cluster.scheduler",
     .at = at<&node::cluster, &cluster::scheduler>(),
     .about = "Whether this node's scheduler binds pods to nodes. If off, all pods wait for "
              "another scheduler, which may have the same name.",
     .brief = true},

    {.name = "scheduler.profile",
     .at = at<&node::scheduler, &scheduler::profile>(),
     .about =
         "The initial plugins and the back-off: today's Kubernetes, or the scheduler of 2014."},
    {.name = "scheduler.enabled",
     .at = at<&node::scheduler, &scheduler::enabled>(),
     .about = "Plugins to add to those of the profile."},
    {.name = "scheduler.disabled",
     .at = at<&node::scheduler, &scheduler::disabled>(),
     .about = "Plugins to remove from those of the profile."},
    {.name = "scheduler.weights",
     .at = at<&node::scheduler, &scheduler::weights>(),
     .about = "Weights of scores by plugin, overriding the profile's.",
     .minimum = 0,
     .maximum = 100},
    {.name = "scheduler.config",
     .at = at<&node::scheduler, &scheduler::config>(),
     .about = "File with a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1): profiles, "
              "plugins and their arguments; it replaces the settings above.",
     .when_empty = "none"},

    {.name = "log.level",
     .at = at<&node::log, &log_config::level>(),
     .about = "The minimum level of logged messages."},
    {.name = "log.format",
     .at = at<&node::log, &log_config::format>(),
     .about = "Text lines, or one JSON object for each line."},

    {.name = "runtime.worker_threads",
     .at = at<&node::runtime, &runtime_config::worker_threads>(),
     .about = "Threads that run actors; 0: one for each core.",
     .unit = "threads",
     .maximum = 1'024,
     .brief = true},
    {.name = "runtime.observation",
     .at = at<&node::runtime, &runtime_config::observation>(),
     .about = "Whether messages are counted by type and the last ones recorded, for the console. "
              "Costs less than 3 %.",
     .brief = true},
};

}  // namespace

std::span<const setting> table() {
  return rows;
}

}  // namespace troupe::config
