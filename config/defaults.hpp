// Every default of a node's configuration with the reason for it. "upstream" is Kubernetes 1.36.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "config/units.hpp"

namespace troupe::config::defaults {

using namespace std::chrono_literals;

inline constexpr std::string_view data_dir = "./var";

// -- server -----------------------------------------------------------------------------------
// Loopback: a node is seen by other machines only when its owner says so. 6443 is the port that
// kubeadm and k3s serve on.
inline constexpr std::string_view listen_host = "127.0.0.1";
inline constexpr std::uint16_t listen_port = 6443;
// The limits of upstream's API server (apiserver/pkg/server/config.go).
inline constexpr byte_size max_body{3 << 20};
inline constexpr std::int64_t max_reads_in_flight = 400;
inline constexpr std::int64_t max_writes_in_flight = 200;
inline constexpr duration request_timeout = 60s;
// Upstream's secure serving: just above what clients keep idle connections for.
inline constexpr duration idle_timeout = 90s;
// 10,000 idle clients are a case we test; at about 20 KB each this many take 320 MB.
inline constexpr std::int64_t max_connections = 16'384;
// Short: a node renews by itself when a third is left. A machine
// that was off for longer joins again.
inline constexpr duration node_certificate_life = 24h * 30;

// As upstream's clusters have it: the name by which pods reach the API.
inline constexpr std::string_view service_account_issuer =
    "https://kubernetes.default.svc.cluster.local";

// -- store ------------------------------------------------------------------------------------
// A client that was away for a while resumes its watch: upstream compacts every five minutes, so
// that a change is there for five to ten.
inline constexpr duration history_time = 10min;
// About 200 MB of log at 2 KB a change.
inline constexpr std::int64_t history_revisions = 100'000;
// Enough for those revisions of 5 KB; a quarter of what upstream's etcd may take in all.
inline constexpr byte_size history_bytes{512 << 20};
// An hour of 28 events a second; 64 MiB are 100,000 of the usual size with some to spare.
inline constexpr std::int64_t max_events = 100'000;
inline constexpr byte_size max_event_bytes{64 << 20};

// The least that a new leader waits for one that was killed; etcd gives a lease at least 1.5 of its
// elections, which take a second.
inline constexpr duration leader_lease = 5s;
// kube-apiserver --etcd-compaction-interval.
inline constexpr duration etcd_compaction_interval = 5min;

// -- kubelet ----------------------------------------------------------------------------------
// Upstream's kubelet (pkg/kubelet/apis/config/v1beta1/defaults.go).
inline constexpr duration lease_duration = 40s;
inline constexpr duration lease_renew = 10s;
inline constexpr duration status_period = 5min;
inline constexpr std::int64_t max_pods = 110;
// Kubernetes leaves podPidsLimit open; OpenShift has 4096.
inline constexpr std::int64_t pod_pids_limit = 4096;
// kubernetes: evictionHard, memory.available and nodefs.available.
inline constexpr byte_size eviction_memory{100 << 20};
inline constexpr std::int64_t eviction_disk = 10;
// kubernetes has no defaults for them; those of its documentation's example, and of a pod's grace.
inline constexpr duration eviction_soft_grace_period = 90s;
inline constexpr duration eviction_max_pod_grace_period = 30s;
// containerd's own default.
inline constexpr std::string_view cri_endpoint = "unix:///run/containerd/containerd.sock";
inline constexpr std::int64_t simulated_nodes = 1;

// -- network ----------------------------------------------------------------------------------
// k3s: --cluster-cidr; no part of the service network 10.96.0.0/12.
inline constexpr std::string_view pod_cidr = "10.42.0.0/16";
// kubeadm's ClusterConfiguration, networking.serviceSubnet.
inline constexpr std::string_view service_cidr = "10.96.0.0/12";
// Upstream's kube-controller-manager, --node-cidr-mask-size-ipv4.
inline constexpr std::int64_t node_cidr_mask_size = 24;

// -- minions ----------------------------------------------------------------------------------
// Upstream's kube-controller-manager, --node-monitor-grace-period up to 1.31.
inline constexpr duration grace_period = 40s;

// -- runtime ----------------------------------------------------------------------------------
// One thread for each core.
inline constexpr std::int64_t worker_threads = 0;

}  // namespace troupe::config::defaults
