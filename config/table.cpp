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
     .about = "Folder of all that the node keeps: the store, certificates, the admin kubeconfig. "
              "Made with mode 0700 when it is not there."},
    {.name = "controllers",
     .at = at<&node::controllers>(),
     .about = "Controllers that run while this control plane leads: * is all, NAME this one, -NAME "
              "not this one; of several that name the same one the first counts. Upstream's names "
              "are taken too."},

    {.name = "server.listen",
     .at = at<&node::server, &server::listen>(),
     .about = "Where the API is served over HTTPS; port 0 takes a free one.",
     .brief = true},
    {.name = "server.legacy_listen",
     .at = at<&node::server, &server::legacy_listen>(),
     .about = "Where the v1beta1 API of 2014 is served over plain HTTP, without authentication. "
              "Clients call it by an address, localhost, the machine's name or one of "
              "server.names.",
     .brief = true,
     .when_empty = "it is not served"},
    {.name = "server.max_body",
     .at = at<&node::server, &server::max_body>(),
     .about =
         "The largest body of a request; more is answered with 413, a compressed one with 415.",
     .unit = "bytes",
     .minimum = 64 * kibibyte,
     .maximum = 64 * mebibyte},
    {.name = "server.max_reads_in_flight",
     .at = at<&node::server, &server::max_reads_in_flight>(),
     .about = "Reads served at once; more are answered with 429. Watches do not count. One user "
              "that is no administrator gets at most half of them.",
     .unit = "requests",
     .minimum = 1,
     .maximum = 100'000},
    {.name = "server.max_writes_in_flight",
     .at = at<&node::server, &server::max_writes_in_flight>(),
     .about = "Writes served at once; more are answered with 429. One user that is no "
              "administrator gets at most half of them.",
     .unit = "requests",
     .minimum = 1,
     .maximum = 100'000},
    {.name = "server.max_connections",
     .at = at<&node::server, &server::max_connections>(),
     .about = "Connections kept open at once. At most half are of clients that have not shown "
              "who they are: the oldest idle one of these is closed for a new one.",
     .unit = "connections",
     .minimum = 1,
     .maximum = 1'000'000},
    {.name = "server.request_timeout",
     .at = at<&node::server, &server::request_timeout>(),
     .about = "The longest that a request may take, watches and followed logs aside.",
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
     .about = "More names and addresses that the server is called by; its certificate covers them, "
              "and the first one stands in the line that `troupe token create` prints."},
    {.name = "server.anonymous_access",
     .at = at<&node::server, &server::anonymous_access>(),
     .about = "Whether requests without credentials are those of system:anonymous, who may read "
              "health and version and what roles give to it; 'off' answers them with 401."},
    {.name = "server.node_certificate_life",
     .at = at<&node::server, &server::node_certificate_life>(),
     .about = "How long the certificate of a joined node lasts; the node renews it when a third "
              "is left.",
     .unit = "time",
     .minimum = second,
     .maximum = 366 * day},

    {.name = "service_account.issuer",
     .at = at<&node::service_account, &accounts::issuer>(),
     .about =
         "Who issues the tokens of service accounts, as https URLs: the first one signs, tokens "
         "of the others are taken as well."},
    {.name = "service_account.api_audiences",
     .at = at<&node::service_account, &accounts::api_audiences>(),
     .about = "Whom a token of a service account must be meant for to be taken by this API; the "
              "issuer where none is given.",
     .brief = true},
    {.name = "service_account.legacy_token_secrets",
     .at = at<&node::service_account, &accounts::legacy_token_secrets>(),
     .about = "Whether each service account has a Secret with a token that does not expire, as "
              "clusters up to 1.23 had it.",
     .brief = true},

    {.name = "pod_security.enforce",
     .at = at<&node::pod_security, &security::enforce>(),
     .about = "The level of the Pod Security Standards that pods must keep in namespaces without "
              "the label pod-security.kubernetes.io/enforce."},
    {.name = "pod_security.audit",
     .at = at<&node::pod_security, &security::audit>(),
     .about = "The level whose violations are noted in the audit log, in namespaces without the "
              "label pod-security.kubernetes.io/audit."},
    {.name = "pod_security.warn",
     .at = at<&node::pod_security, &security::warn>(),
     .about = "The level whose violations clients are warned of, in namespaces without the label "
              "pod-security.kubernetes.io/warn."},
    {.name = "pod_security.exempt_namespaces",
     .at = at<&node::pod_security, &security::exempt_namespaces>(),
     .about = "Namespaces whose pods are not looked at, whatever their labels say."},
    {.name = "pod_security.exempt_users",
     .at = at<&node::pod_security, &security::exempt_users>(),
     .about = "Users whose pods are not looked at. The pods of a workload are made by "
              "system:kube-controller-manager, not by who made the workload."},
    {.name = "pod_security.exempt_runtime_classes",
     .at = at<&node::pod_security, &security::exempt_runtime_classes>(),
     .about = "Runtime classes whose pods are not looked at."},

    {.name = "etcd.endpoints",
     .at = at<&node::etcd, &etcd::endpoints>(),
     .about = "The members of etcd, as https://10.0.0.1:2379; one is used at a time, the next when "
              "it fails."},
    {.name = "etcd.ca",
     .at = at<&node::etcd, &etcd::ca>(),
     .about = "File with the certificates of those whom etcd's certificate must be signed by.",
     .when_empty = "the machine's own authorities",
     .file = true},
    {.name = "etcd.cert",
     .at = at<&node::etcd, &etcd::cert>(),
     .about = "File with the certificate by which etcd knows this control plane.",
     .when_empty = "none",
     .file = true},
    {.name = "etcd.key",
     .at = at<&node::etcd, &etcd::key>(),
     .about = "File with the key of that certificate.",
     .when_empty = "none",
     .file = true},
    {.name = "etcd.leader_lease",
     .at = at<&node::etcd, &etcd::leader_lease>(),
     .about = "How long a control plane that leads may be silent before another one leads.",
     .unit = "time",
     .minimum = 2 * second,
     .maximum = 10 * minute},
    {.name = "etcd.compaction_interval",
     .at = at<&node::etcd, &etcd::compaction_interval>(),
     .about =
         "How often the control plane that leads drops the changes in etcd that were there one "
         "interval ago; 0: never, so that etcd's own compaction must be on.",
     .unit = "time",
     .minimum = 0,
     .maximum = 24 * hour},
    {.name = "storage.target",
     .at = at<&node::etcd, &etcd::storage_target>(),
     .about =
         "Over etcd: the release of Kubernetes in whose versions and bytes objects are written, "
         "so that it can be started on the etcd again."},
    {.name = "store.store",
     .at = at<&node::store, &store::store>(),
     .about = "Where the cluster's state is: in a store of this node's own, or in an etcd that "
              "several control planes share.",
     .brief = true},
    {.name = "store.history_revisions",
     .at = at<&node::store, &store::history_revisions>(),
     .about = "The newest changes that the change log keeps at least; a watch from before what it "
              "keeps ends with 410.",
     .unit = "revisions",
     .minimum = 100,
     .maximum = 100'000'000},
    {.name = "store.history_time",
     .at = at<&node::store, &store::history_time>(),
     .about = "How long the change log keeps each change at least.",
     .unit = "time",
     .minimum = second,
     .maximum = 30 * day},
    {.name = "store.history_bytes",
     .at = at<&node::store, &store::history_bytes>(),
     .about = "The most that the change log may take of the disk: beyond it the oldest changes go, "
              "however few and young they are. Never more than an eighth of the disk.",
     .unit = "bytes",
     .minimum = mebibyte,
     .maximum = mebibyte * mebibyte},
    {.name = "store.max_events",
     .at = at<&node::store, &store::max_events>(),
     .about = "Event objects that are kept; beyond that the oldest go before their hour is over.",
     .unit = "events",
     .minimum = 100,
     .maximum = 10'000'000},
    {.name = "store.max_event_bytes",
     .at = at<&node::store, &store::max_event_bytes>(),
     .about = "What all Event objects may take in memory; beyond that the oldest go before their "
              "hour is over.",
     .unit = "bytes",
     .minimum = mebibyte,
     .maximum = 4'096 * mebibyte},

    {.name = "kubelet.node_name",
     .at = at<&node::kubelet, &kubelet::node_name>(),
     .about = "Name of the node that this machine is.",
     .derived = "the host's name in lower case",
     .brief = true},
    {.name = "kubelet.root_dir",
     .at = at<&node::kubelet, &kubelet::root_dir>(),
     .about = "Folder of pods' files: volumes, logs, state of containers. For one node alone.",
     .derived = "DATA-DIR/kubelet",
     .brief = true},
    {.name = "kubelet.runtime",
     .at = at<&node::kubelet, &kubelet::runtime>(),
     .about = "How containers run: 'cri' has containerd or another container runtime run their "
              "images, 'process' starts command and args, or args alone, as child processes of "
              "the node, 'simulated' starts nothing and answers at once; 'auto' is cri where a "
              "runtime answers at the start, else process.",
     .brief = true},
    {.name = "kubelet.cri_endpoint",
     .at = at<&node::kubelet, &kubelet::cri_endpoint>(),
     .about = "Socket of the container runtime.",
     .brief = true,
     .file = true},
    {.name = "kubelet.simulated_nodes",
     .at = at<&node::kubelet, &kubelet::simulated_nodes>(),
     .about = "Nodes that the simulated runtime plays.",
     .unit = "nodes",
     .minimum = 1,
     .maximum = 100'000,
     .brief = true},
    {.name = "kubelet.simulation_policy",
     .at = at<&node::kubelet, &kubelet::simulation_policy>(),
     .about = "File with a SimulationPolicy: what happens to simulated pods and nodes, and when.",
     .brief = true,
     .when_empty = "what their annotations say"},
    {.name = "kubelet.max_pods",
     .at = at<&node::kubelet, &kubelet::max_pods>(),
     .about = "Pods that a node takes, also a simulated one.",
     .unit = "pods",
     .minimum = 1,
     .maximum = 100'000},
    {.name = "kubelet.pod_pids_limit",
     .at = at<&node::kubelet, &kubelet::pod_pids_limit>(),
     .about = "Processes and threads that the containers of one pod may have together, where the "
              "machine's control groups count them.",
     .unit = "processes",
     .minimum = 16,
     .maximum = 4'194'304},
    {.name = "kubelet.kube_reserved_cpu",
     .at = at<&node::kubelet, &kubelet::kube_reserved_cpu>(),
     .about = "Processor time that the node keeps for itself and its container runtime: pods may "
              "ask for so much less.",
     .unit = "thousandths of a processor",
     .minimum = 0,
     .maximum = 1'000'000},
    {.name = "kubelet.kube_reserved_memory",
     .at = at<&node::kubelet, &kubelet::kube_reserved_memory>(),
     .about = "Memory that the node keeps for itself and its container runtime: pods may ask for "
              "so much less.",
     .unit = "bytes",
     .minimum = 0,
     .maximum = mebibyte * mebibyte},
    {.name = "kubelet.system_reserved_cpu",
     .at = at<&node::kubelet, &kubelet::system_reserved_cpu>(),
     .about = "Processor time that is kept for the rest of the machine.",
     .unit = "thousandths of a processor",
     .minimum = 0,
     .maximum = 1'000'000},
    {.name = "kubelet.system_reserved_memory",
     .at = at<&node::kubelet, &kubelet::system_reserved_memory>(),
     .about = "Memory that is kept for the rest of the machine.",
     .unit = "bytes",
     .minimum = 0,
     .maximum = mebibyte * mebibyte},
    {.name = "kubelet.eviction_memory",
     .at = at<&node::kubelet, &kubelet::eviction_memory>(),
     .about = "With less memory left than this the node evicts pods; pods may ask for so much "
              "less.",
     .unit = "bytes",
     .minimum = 0,
     .maximum = mebibyte * mebibyte},
    {.name = "kubelet.eviction_disk",
     .at = at<&node::kubelet, &kubelet::eviction_disk>(),
     .about = "With less left of the disk that holds root_dir than this the node evicts pods; 0: "
              "never.",
     .unit = "per cent",
     .minimum = 0,
     .maximum = 99},
    {.name = "kubelet.eviction_soft_memory",
     .at = at<&node::kubelet, &kubelet::eviction_soft_memory>(),
     .about =
         "With less memory left than this for eviction_soft_grace_period the node evicts pods, "
         "which end with their own grace; 0: never.",
     .unit = "bytes",
     .minimum = 0,
     .maximum = mebibyte * mebibyte},
    {.name = "kubelet.eviction_soft_disk",
     .at = at<&node::kubelet, &kubelet::eviction_soft_disk>(),
     .about = "The same for the disk that holds root_dir.",
     .unit = "per cent",
     .minimum = 0,
     .maximum = 99},
    {.name = "kubelet.eviction_soft_grace_period",
     .at = at<&node::kubelet, &kubelet::eviction_soft_grace_period>(),
     .about = "How long a soft threshold must be passed before pods are evicted for it.",
     .unit = "time",
     .minimum = 0,
     .maximum = hour},
    {.name = "kubelet.eviction_max_pod_grace_period",
     .at = at<&node::kubelet, &kubelet::eviction_max_pod_grace_period>(),
     .about = "The longest grace of a pod that is evicted for a soft threshold.",
     .unit = "time",
     .minimum = 0,
     .maximum = hour},
    {.name = "kubelet.shutdown_grace_period",
     .at = at<&node::kubelet, &kubelet::shutdown_grace_period>(),
     .about = "How long pods have to end when the machine shuts down; 0: they are not told, and "
              "the system ends them.",
     .unit = "time",
     .minimum = 0,
     .maximum = hour},
    {.name = "kubelet.shutdown_grace_period_critical_pods",
     .at = at<&node::kubelet, &kubelet::shutdown_grace_period_critical_pods>(),
     .about = "How much of that is kept for system-critical pods, which end after the others.",
     .unit = "time",
     .minimum = 0,
     .maximum = hour},
    {.name = "kubelet.lease_duration",
     .at = at<&node::kubelet, &kubelet::lease_duration>(),
     .about = "How long the node's lease holds after its last renewal.",
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
     .about = "How often the node reports its status when nothing has changed.",
     .unit = "time",
     .minimum = second,
     .maximum = day},

    {.name = "link.listen",
     .at = at<&node::link, &link_config::listen>(),
     .about = "Where joined nodes call, from the first token or joined node on; port 0 takes a "
              "free one.",
     .when_empty = "the host of server.listen and the port after it"},

    {.name = "network.mode",
     .at = at<&node::network, &network_config::mode>(),
     .about =
         "What this machine has of the cluster's network, for which it needs root and nft. "
         "'services': services by their addresses, node ports and names, with DNS at 10.96.0.10. "
         "'pods': these, and addresses and routes for pods, which run from images. 'auto': 'pods' "
         "where that is possible, else 'none'."},
    {.name = "network.pod_cidrs",
     .at = at<&node::network, &network_config::pod_cidrs>(),
     .about = "The range of addresses of all pods, the same on every machine of the cluster; each "
              "node gets a part of it. Without one no node gets any."},
    {.name = "network.node_cidr_mask_size",
     .at = at<&node::network, &network_config::node_cidr_mask_size>(),
     .about = "The prefix of a node's part of that range.",
     .unit = "bits",
     .minimum = 8,
     .maximum = 30},
    {.name = "network.routes",
     .at = at<&node::network, &network_config::routes>(),
     .about = "How pods of other machines are reached: 'direct' where a machine is on a link of "
              "this one, 'vxlan' through UDP port 8472, 'auto' by the first that is possible."},
    {.name = "network.service_cidrs",
     .at = at<&node::network, &network_config::service_cidrs>(),
     .about = "The ranges of addresses of services, the same on every machine of the cluster: "
              "10.96.0.0/12, and with one of IPv6 beside it, such as fd00:10:96::/112, services "
              "may have both families, or that one."},
    {.name = "network.dns_listen",
     .at = at<&node::network, &network_config::dns_listen>(),
     .about = "Where the names of services are served by DNS, over UDP and TCP.",
     .when_empty = "10.96.0.10:53 where services have rules, otherwise nowhere"},

    {.name = "minions.grace_period",
     .at = at<&node::minions, &minions_config::grace_period>(),
     .about = "A node that gives no sign of life for so long is called not ready.",
     .unit = "time",
     .minimum = second,
     .maximum = hour},

    {.name = "cluster.max_pods",
     .at = at<&node::cluster, &cluster::max_pods>(),
     .about = "Pods of the cluster at most: a creation beyond that is refused with 403, and "
              "controllers wait for room. 0 takes twice what all nodes take, at least 10000.",
     .unit = "pods",
     .maximum = 100'000'000},
    {.name = "cluster.max_objects",
     .at = at<&node::cluster, &cluster::max_objects>(),
     .about = "Objects of all kinds that the store holds at most; nodes and leases are made even "
              "so. 0 is no bound.",
     .unit = "objects",
     .maximum = 1'000'000'000},
    {.name = "cluster.max_bytes",
     .at = at<&node::cluster, &cluster::max_bytes>(),
     .about = "Bytes of all objects as they are stored at which creations are refused; nodes and "
              "leases are made even so. 0 is no bound.",
     .unit = "bytes",
     .maximum = kibibyte * gibibyte},
    {.name = "cluster.scheduler",
     .at = at<&node::cluster, &cluster::scheduler>(),
     .about = "Whether this node puts pods on nodes. Off, all pods wait for another scheduler, "
              "which may take the name of this one.",
     .brief = true},

    {.name = "scheduler.profile",
     .at = at<&node::scheduler, &scheduler::profile>(),
     .about = "The plugins to begin with and the back-off: today's Kubernetes, or the scheduler of "
              "2014."},
    {.name = "scheduler.enabled",
     .at = at<&node::scheduler, &scheduler::enabled>(),
     .about = "Plugins to add to those of the profile."},
    {.name = "scheduler.disabled",
     .at = at<&node::scheduler, &scheduler::disabled>(),
     .about = "Plugins to take from those of the profile."},
    {.name = "scheduler.weights",
     .at = at<&node::scheduler, &scheduler::weights>(),
     .about = "Weight of a plugin's score by the plugin's name, in place of the profile's.",
     .minimum = 0,
     .maximum = 100},
    {.name = "scheduler.config",
     .at = at<&node::scheduler, &scheduler::config>(),
     .about = "File with a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1): profiles, "
              "plugins and their arguments, in place of the settings above.",
     .when_empty = "none"},

    {.name = "log.level",
     .at = at<&node::log, &log_config::level>(),
     .about = "The least important messages that are logged."},
    {.name = "log.format",
     .at = at<&node::log, &log_config::format>(),
     .about = "Lines for people, or one JSON object a line."},

    {.name = "runtime.worker_threads",
     .at = at<&node::runtime, &runtime_config::worker_threads>(),
     .about = "Threads that run actors; 0 takes one for each core.",
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
