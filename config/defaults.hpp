// The defaults of a node's configuration with their reasons. "upstream" is Kubernetes 1.36.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "config/units.hpp"

namespace troupe::config::defaults {

using namespace std::chrono_literals;

inline constexpr std::string_view data_dir = "./var";

// -- server -----------------------------------------------------------------------------------
// Loopback: other machines reach a node only if its owner configures it. 6443 is the port of
// kubeadm and k3s.
inline constexpr std::string_view listen_host = "127.0.0.1";
inline constexpr std::uint16_t listen_port = 6443;
// The limits of upstream's API server (apiserver/pkg/server/config.go).
inline constexpr byte_size max_body{3 << 20};
inline constexpr std::int64_t max_reads_in_flight = 400;
inline constexpr std::int64_t max_writes_in_flight = 200;
inline constexpr duration request_timeout = 60s;
// Upstream's secure serving: slightly longer than clients keep idle connections.
inline constexpr duration idle_timeout = 90s;
// We test 10,000 idle clients; at about 20 KB each this maximum takes 320 MB.
inline constexpr std::int64_t max_connections = 16'384;
// Short: a node renews its certificate when a third of its life is left. A machine that was off for
// longer joins again.
inline constexpr duration node_certificate_lifetime = 24h * 30;

// As in upstream's clusters: the name by which pods reach the API.
inline constexpr std::string_view service_account_issuer =
    "https://kubernetes.default.svc.cluster.local";

// -- store ------------------------------------------------------------------------------------
// A client can resume its watch after an interruption: upstream compacts every five minutes, so a
// change is available for five to ten.
inline constexpr duration history_time = 10min;
// About 200 MB of log at 2 KB a change.
inline constexpr std::int64_t history_revisions = 100'000;
// Enough for these revisions at 5 KB; a quarter of the quota of upstream's etcd.
inline constexpr byte_size history_bytes{512 << 20};
// An hour of 28 events a second; 64 MiB hold 100,000 of the usual size with a reserve.
inline constexpr std::int64_t max_events = 100'000;
inline constexpr byte_size max_event_bytes{64 << 20};

// The minimum that a new leader waits after its predecessor was killed; etcd's minimum of a lease
// is 1.5 elections, which take a second.
inline constexpr duration leader_lease = 5s;
// kube-apiserver --etcd-compaction-interval.
inline constexpr duration etcd_compaction_interval = 5min;
// As persistence: etcd_options and log_answer_limit.
inline constexpr duration etcd_transaction_timeout = 2s;
inline constexpr duration etcd_read_timeout = 3s;
inline constexpr duration etcd_answer_timeout = 7s;

// -- kubelet ----------------------------------------------------------------------------------
// Upstream's kubelet (pkg/kubelet/apis/config/v1beta1/defaults.go).
inline constexpr duration lease_duration = 40s;
inline constexpr duration lease_renew = 10s;
inline constexpr duration status_period = 5min;
inline constexpr std::int64_t max_pods = 110;
// Kubernetes has no default podPidsLimit; OpenShift's is 4096.
inline constexpr std::int64_t pod_pids_limit = 4096;
// kubernetes: evictionHard, memory.available, nodefs.available and imagefs.available.
inline constexpr byte_size eviction_memory{100 << 20};
inline constexpr std::int64_t eviction_disk = 10;
inline constexpr std::int64_t eviction_image_disk = 15;
// kubernetes has no default for pid.available.
inline constexpr std::int64_t eviction_pids = 5;
// kubernetes has no defaults; these are its documentation's example, and a pod's grace period.
inline constexpr duration eviction_soft_grace_period = 90s;
inline constexpr duration eviction_max_pod_grace_period = 30s;
// kubernetes: imageGCHighThresholdPercent, imageGCLowThresholdPercent, imageMinimumGCAge;
// containerLogMaxSize, containerLogMaxFiles.
inline constexpr std::int64_t image_gc_high_threshold = 85;
inline constexpr std::int64_t image_gc_low_threshold = 80;
inline constexpr duration image_minimum_gc_age = 2min;
inline constexpr byte_size container_log_max_size{10 << 20};
inline constexpr std::int64_t container_log_max_files = 5;
// containerd's own default.
inline constexpr std::string_view cri_endpoint = "unix:///run/containerd/containerd.sock";
inline constexpr std::int64_t simulated_nodes = 1;

// -- network ----------------------------------------------------------------------------------
// k3s: --cluster-cidr; does not overlap the service network 10.96.0.0/12.
inline constexpr std::string_view pod_cidr = "10.42.0.0/16";
// kubeadm's ClusterConfiguration, networking.serviceSubnet.
inline constexpr std::string_view service_cidr = "10.96.0.0/12";
// sshd's.
inline constexpr std::string_view reserved_port = "22";
// Upstream's kube-controller-manager, --node-cidr-mask-size-ipv4.
inline constexpr std::int64_t node_cidr_mask_size = 24;

// -- minions ----------------------------------------------------------------------------------
// Upstream's kube-controller-manager, --node-monitor-grace-period up to 1.31.
inline constexpr duration grace_period = 40s;

// -- runtime ----------------------------------------------------------------------------------
// One thread for each core.
inline constexpr std::int64_t worker_threads = 0;

}  // namespace troupe::config::defaults
