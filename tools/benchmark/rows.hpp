// The measurements, one function for each part of the table.
#pragma once

#include <string>

#include "benchmark/results.hpp"

namespace troupe::bench {

struct bench_options {
  std::string program;  // troupe
};

// Codec, scheduler and actors, each alone and in memory; then several controllers together.
void measure_rooms(results& out, const bench_options& options);
// The disk itself, then durable transactions of the store in this process.
void measure_store(results& out, const bench_options& options);
// Time until a node serves, time until a pod runs, and resources of an idle node.
void measure_start(results& out, const bench_options& options);
// Creates, updates, gets and lists over TLS.
void measure_http(results& out, const bench_options& options);
// Custom kinds: creates of their objects, and many definitions.
void measure_custom(results& out, const bench_options& options);
// Delivery of one object's updates to a hundred watchers.
void measure_watch(results& out, const bench_options& options);
// Controllers and their pods on simulated nodes.
void measure_pods(results& out, const bench_options& options);
// The delay of endpoint slices behind the pods of many services.
void measure_endpoints(results& out, const bench_options& options);
// Claims, each with a volume that is provisioned for it.
void measure_claims(results& out, const bench_options& options);
// A large cluster of simulated nodes: resource usage when idle, and with 100,000 pods.
void measure_idle_nodes(results& out, const bench_options& options);
void measure_many_pods(results& out, const bench_options& options);
// The cost of observing the actors: the same work with and without it, alternating.
void measure_console(results& out, const bench_options& options);
// Names and services: DNS, and the time of changes until they reach the kernel. In a network
// namespace, if the rights and nft are available.
void measure_network(results& out, const bench_options& options);
// The effect of a greedy client on other clients, and the memory that it makes the node hold.
void measure_limits(results& out, const bench_options& options);

// Pods run by a containerd that the bench starts. Skipped if none is installed.
void measure_containers(results& out, const bench_options& options);
// Commands and ports of its containers, against the runtime's own streams.
void measure_streams(results& out, const bench_options& options);
// Creates and reads over etcd, against those of a bare client and of an embedded store. Skipped if
// no etcd is installed.
void measure_etcd(results& out, const bench_options& options);
// Watches, takeovers and restarts of control planes over etcd. Skipped if no etcd is installed.
void measure_planes(results& out, const bench_options& options);
// The same work with Kubernetes 1.20. Skipped if no environment variable names its programs.
void measure_kube(results& out, const bench_options& options);

// The median time of an append of 1 KB with fdatasync, in microseconds.
double sync_p50_us();

}  // namespace troupe::bench
