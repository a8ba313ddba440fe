// The measurements, one function for each part of the table.
#pragma once

#include <string>

#include "benchmark/results.hpp"

namespace troupe::bench {

struct bench_options {
  std::string program;  // troupe
};

// Codec, scheduler and actors, each alone and in memory; then controllers beside one another.
void measure_rooms(results& out, const bench_options& options);
// The disk itself, then durable transactions of the store in this process.
void measure_store(results& out, const bench_options& options);
// From nothing to serving, to a pod, and what a node takes when idle.
void measure_start(results& out, const bench_options& options);
// Creates, updates, gets and lists over TLS.
void measure_http(results& out, const bench_options& options);
// Custom kinds: creates of their objects, many of their definitions.
void measure_custom(results& out, const bench_options& options);
// One object's updates on their way to a hundred watchers.
void measure_watch(results& out, const bench_options& options);
// Controllers and their pods on simulated nodes.
void measure_pods(results& out, const bench_options& options);
// How far endpoint slices are behind the pods of many services.
void measure_endpoints(results& out, const bench_options& options);
// Claims, each with a volume that is made for it.
void measure_claims(results& out, const bench_options& options);
// A large cluster of simulated nodes: what it takes when nothing happens, and with 100,000 pods.
void measure_idle_nodes(results& out, const bench_options& options);
void measure_many_pods(results& out, const bench_options& options);
// What observation of the actors costs: the same work with and without it, in turn.
void measure_console(results& out, const bench_options& options);
// Names and services: DNS, and changes on their way to the kernel. In a network namespace, where
// the rights and nft are there.
void measure_network(results& out, const bench_options& options);
// What others notice of a client that takes all it can, and what it makes the node keep.
void measure_limits(results& out, const bench_options& options);

// Pods by a containerd of the bench's own. Nothing where none is installed.
void measure_containers(results& out, const bench_options& options);
// Creates and reads over etcd, over those of a bare client. Nothing where no etcd is installed.
void measure_etcd(results& out, const bench_options& options);

// The median time of an append of 1 KB with fdatasync, in microseconds.
double sync_p50_us();

}  // namespace troupe::bench
