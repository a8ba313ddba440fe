// The settings of a node. Plain values: load() fills them, and they are not changed afterwards.
// Each component gets its own group. The meaning, unit, form and range of a key are in table.cpp,
// the reasons for defaults in defaults.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "config/defaults.hpp"
#include "config/units.hpp"

namespace troupe::config {

// How containers run: by the container runtime interface if a server answers, otherwise as child
// processes; always by one of them; or simulated (pods change their status at once).
enum class pod_runtime { automatic, process, cri, simulated };
enum class scheduler_profile { today, y2014 };
enum class log_level { trace, debug, info, warning, error };
enum class log_format { text, json };
enum class observation { on, off };
enum class own_scheduler { on, off };
// The location of the cluster's state: this node's own store, or an etcd shared by several.
enum class store_kind { embedded, etcd };
// The parts of the cluster network on this machine: none; services and DNS; also a pod network;
// automatic: all if pods run from images and the machine supports it, otherwise none.
enum class network_mode { none, services, pods, automatic };
// Routes to pods on other machines: direct on a common link and otherwise VXLAN, or only one.
enum class network_routes { automatic, direct, vxlan };
// Services of type LoadBalancer to which nodes give their addresses: also those without a class,
// or only those of the class of nodes.
enum class load_balancers { default_class, own_class };
enum class legacy_token_secrets { off, on };
enum class anonymous_access { on, off };
enum class removed_versions { off, on };
enum class pod_security_level { privileged, baseline, restricted };

struct server_config {
  address listen{std::string(defaults::listen_host), defaults::listen_port};
  // Empty: the 2014 API is not served.
  address legacy_listen;
  byte_size max_body = defaults::max_body;
  std::int64_t max_reads_in_flight = defaults::max_reads_in_flight;
  std::int64_t max_writes_in_flight = defaults::max_writes_in_flight;
  std::int64_t max_connections = defaults::max_connections;
  duration request_timeout = defaults::request_timeout;
  duration idle_timeout = defaults::idle_timeout;
  // Additional names and addresses of the server.
  std::vector<std::string> names;
  config::anonymous_access anonymous_access = config::anonymous_access::on;
  config::removed_versions removed_versions = config::removed_versions::off;
  duration node_certificate_lifetime = defaults::node_certificate_lifetime;
};

// Tokens of service accounts.
struct service_account_config {
  // URLs: the first is the issuer of new tokens, tokens of all are accepted.
  std::vector<std::string> issuer{std::string(defaults::service_account_issuer)};
  // Empty: the issuer.
  std::vector<std::string> api_audiences;
  config::legacy_token_secrets legacy_token_secrets = config::legacy_token_secrets::off;
};

// The Pod Security defaults of namespaces without labels, and the exemptions.
struct pod_security_config {
  pod_security_level enforce = pod_security_level::privileged;
  pod_security_level audit = pod_security_level::privileged;
  pod_security_level warn = pod_security_level::privileged;
  std::vector<std::string> exempt_namespaces, exempt_users, exempt_runtime_classes;
};

struct store_config {
  store_kind store = store_kind::embedded;
  // The minimum of revisions and of time that the change log keeps, and the maximum of bytes, which
  // takes precedence.
  std::int64_t history_revisions = defaults::history_revisions;
  duration history_time = defaults::history_time;
  byte_size history_bytes = defaults::history_bytes;
  // Events are kept for an hour, within these limits.
  std::int64_t max_events = defaults::max_events;
  byte_size max_event_bytes = defaults::max_event_bytes;
};

// Upstream's releases from 1.20 on.
enum class storage_release : std::uint8_t { first, last = 13 };

// Used if the store is etcd.
struct etcd_config {
  std::vector<std::string> endpoints;
  // Files in PEM; empty: none.
  std::filesystem::path ca, cert, key;
  duration leader_lease = defaults::leader_lease;
  duration compaction_interval = defaults::etcd_compaction_interval;
  duration transaction_timeout = defaults::etcd_transaction_timeout;
  duration read_timeout = defaults::etcd_read_timeout;
  duration answer_timeout = defaults::etcd_answer_timeout;
  storage_release storage_target = storage_release::last;
};

struct kubelet_config {
  // Never empty after load(): the host's name in lower case.
  std::string node_name;
  // Of the other family than the node's first address.
  ip_address second_address;
  // Never empty after load(): DATA-DIR/kubelet.
  std::filesystem::path root_dir;
  pod_runtime runtime = pod_runtime::automatic;
  std::filesystem::path cri_endpoint{defaults::cri_endpoint};
  std::int64_t simulated_nodes = defaults::simulated_nodes;
  // The policy file for simulated pods and nodes; empty: only their annotations apply.
  std::filesystem::path simulation_policy;
  std::int64_t max_pods = defaults::max_pods;
  std::int64_t pod_pids_limit = defaults::pod_pids_limit;
  // Reserved resources that pods cannot use: millicores, and memory.
  std::int64_t kube_reserved_cpu = 0, system_reserved_cpu = 0;
  byte_size kube_reserved_memory, system_reserved_memory;
  byte_size eviction_memory = defaults::eviction_memory;
  std::int64_t eviction_disk = defaults::eviction_disk;
  std::int64_t eviction_image_disk = defaults::eviction_image_disk;
  std::int64_t eviction_pids = defaults::eviction_pids;
  // 0: no soft threshold.
  byte_size eviction_soft_memory;
  std::int64_t eviction_soft_disk = 0;
  duration eviction_soft_grace_period = defaults::eviction_soft_grace_period;
  duration eviction_max_pod_grace_period = defaults::eviction_max_pod_grace_period;
  std::int64_t image_gc_high_threshold = defaults::image_gc_high_threshold;
  std::int64_t image_gc_low_threshold = defaults::image_gc_low_threshold;
  duration image_minimum_gc_age = defaults::image_minimum_gc_age;
  duration image_maximum_gc_age{0};  // 0: any
  std::vector<std::string> allowed_unsafe_sysctls;
  byte_size container_log_max_size = defaults::container_log_max_size;
  std::int64_t container_log_max_files = defaults::container_log_max_files;
  // 0: no graceful shutdown. Critical pods get the last part of the period.
  duration shutdown_grace_period{0}, shutdown_grace_period_critical_pods{0};
  duration lease_duration = defaults::lease_duration;
  duration lease_renew = defaults::lease_renew;
  duration status_period = defaults::status_period;
};

struct link_config {
  // Empty: the host of server.listen and the port after the API's (any if the API's is 0).
  address listen;
};

struct network_config {
  network_mode mode = network_mode::automatic;
  // The cluster's ranges, at most one of each family; empty: nodes get none.
  std::vector<std::string> pod_cidrs{std::string(defaults::pod_cidr)};
  std::int64_t node_cidr_mask_size = defaults::node_cidr_mask_size;
  network_routes routes = network_routes::automatic;
  // That of IPv4 is a constant of the program; of IPv6 there may be one.
  std::vector<std::string> service_cidrs{std::string(defaults::service_cidr)};
  config::load_balancers load_balancers = config::load_balancers::default_class;
  // Beside those of the control plane.
  std::vector<std::string> reserved_ports{std::string(defaults::reserved_port)};
  // Empty: the service address of DNS where services have rules, otherwise nowhere.
  address dns_listen;
};

struct minions_config {
  duration grace_period = defaults::grace_period;
};

// The capacity of the cluster. 0: for pods twice the nodes' capacity, otherwise no bound.
struct cluster_config {
  own_scheduler scheduler = own_scheduler::on;
  std::int64_t max_pods = 0;
  std::int64_t max_objects = 0;
  byte_size max_bytes;
};

struct scheduler_config {
  scheduler_profile profile = scheduler_profile::today;
  // Plugins added to or removed from those of the profile, by name.
  std::vector<std::string> enabled;
  std::vector<std::string> disabled;
  // Weights of scores by plugin, overriding the profile's.
  std::map<std::string, std::int64_t> weights;
  // A configuration file in upstream's format that replaces these settings; empty: none.
  std::filesystem::path config;
};

struct log_config {
  log_level level = log_level::info;
  log_format format = log_format::text;
};

struct runtime_config {
  // 0: one for each core.
  std::int64_t worker_threads = defaults::worker_threads;
  config::observation observation = config::observation::on;
};

struct node_config {
  std::filesystem::path data_dir{defaults::data_dir};
  // "*", NAME and -NAME, as upstream's --controllers.
  std::vector<std::string> controllers{"*"};
  server_config server;
  service_account_config service_account;
  pod_security_config pod_security;
  store_config store;
  etcd_config etcd;
  kubelet_config kubelet;
  link_config link;
  network_config network;
  minions_config minions;
  cluster_config cluster;
  scheduler_config scheduler;
  log_config log;
  runtime_config runtime;
};

}  // namespace troupe::config
