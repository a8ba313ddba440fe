// The constants that stand for behaviour of the control plane, each with its source.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "runtime/clock.hpp"

namespace troupe::actors::defaults {

using namespace std::chrono_literals;
using runtime::duration;

// -- writes ---------------------------------------------------------------------------------------

// How often a write is proposed again after a conflict (upstream: client-go
// util/retry.DefaultRetry; apiserver/pkg/endpoints/handlers/patch.go, MaxRetryWhenPatchConflicts).
inline constexpr int write_attempts = 5;
// Writes that wait for another attempt.
inline constexpr std::size_t write_again_queue = 1'000;
// A request to the writer that got no answer by then has failed: a disk that stalls longer is
// broken.
inline constexpr duration write_timeout = 30s;
// Questions to admission steps outside that wait for an answer, as many as a server's writes in
// flight and controllers' creations at once; how often it is looked for those that came too late.
inline constexpr std::size_t outside_waiting = 1'000;
inline constexpr duration outside_round = 1s;

// -- services -------------------------------------------------------------------------------------

// upstream: service-cluster-ip-range of kubeadm, service-node-port-range.
inline constexpr const char* service_network = "10.96.0.0/12";
// Of default/kubernetes: the first of it.
inline constexpr const char* api_service_address = "10.96.0.1";
inline constexpr int first_node_port = 30'000;
inline constexpr int last_node_port = 32'767;
// Numbers that are tried at random before each is looked at: until almost all are taken that does.
inline constexpr int allocation_probes = 32;
// How often a request draws again after another took the same number at the same moment. Each time
// somebody has succeeded, so more than the writes in flight by default (200) is enough.
inline constexpr int allocation_attempts = 256;

// -- capacity -------------------------------------------------------------------------------------

// Pods of the cluster at most, in the place of a number by configuration: twice what the nodes take
// leaves room for rollouts, for pods that end and for pods that wait; the least is what a cluster
// of one node is tested with.
inline constexpr std::uint64_t pod_capacity_factor = 2;
inline constexpr std::uint64_t least_pod_capacity = 10'000;

// -- watcher --------------------------------------------------------------------------------------

// Recent changes that the watcher keeps in memory, by number and by size of the encoded objects;
// who resumes from further back is served from the log on disk.
inline constexpr std::size_t window_changes = 20'000;
inline constexpr std::size_t window_bytes = 16u << 20;
// Records read from the log at once for a subscriber that lags behind the window.
inline constexpr std::size_t log_part_changes = 1'000;
// A read that has not come back by then is requested again.
inline constexpr duration log_read_limit = 30s;
// Events in one message at most, unless one revision has more.
inline constexpr std::int64_t message_events = 1'000;
// Log reads that may wait for the reading thread; a subscriber beyond that tries again later.
inline constexpr std::size_t log_queue_limit = 1'000;
// Between two looks after subscribers that could not be served, and after batches that never came.
inline constexpr duration watcher_round = 1s;
// What the texts of objects (JSON, protobuf) may take that are kept for the next who asks: those of
// some 10,000 pods. Beyond that, and where nobody has asked for a minute, they are dropped.
inline constexpr std::size_t text_bytes = 64u << 20;
// A subscriber that has not taken the whole initial state by then is ended, so that it does not
// keep an old snapshot alive.
inline constexpr duration initial_state_limit = 60s;
// kubernetes: apiserver/pkg/storage/cacher, bookmarks about each minute.
inline constexpr duration bookmark_period = 60s;
// Events under way to one subscriber.
inline constexpr std::uint32_t stream_credit = 1'000;
// How soon an informer notices that the watcher has forgotten it though it has not begun again: the
// last word about a stream met a full mailbox.
inline constexpr duration stream_heartbeat = 60s;

// -- pods -----------------------------------------------------------------------------------------

// Pods that name another scheduler are left to it.
inline constexpr const char* scheduler_name = "default-scheduler";
// An unbound pod asks again after this time, in case the scheduler lost its queue in a crash.
inline constexpr duration schedule_again = 60s;
// A command that failed for a reason that may pass is repeated after this time.
inline constexpr duration try_again = 1s;
// kubernetes: pkg/controller/podgc: pods of a node that has vanished, the number of terminated pods
// that are kept, and how often they are counted.
inline constexpr duration vanished_node_quarantine = 40s;
inline constexpr std::size_t terminated_pods_kept = 12'500;
inline constexpr duration terminated_pods_round = 20s;

// -- minions --------------------------------------------------------------------------------------

// kubernetes: kube-controller-manager --node-monitor-grace-period (40 s up to 1.31, where a lease
// lasts as long), --node-startup-grace-period, --node-monitor-period.
inline constexpr duration node_grace = 40s;
// A node that has never posted its status is given so much more.
inline constexpr duration node_startup_extra = 20s;
inline constexpr duration node_monitor_period = 5s;
inline constexpr const char* node_lease_namespace = "kube-node-lease";
// --node-eviction-rate, --secondary-node-eviction-rate, --unhealthy-zone-threshold and
// --large-cluster-size-threshold.
inline constexpr double node_evictions_per_second = 0.1;
inline constexpr double slow_node_evictions_per_second = 0.01;
inline constexpr double unhealthy_zone_part = 0.55;
inline constexpr std::size_t large_zone_nodes = 50;

// -- garbage collector ----------------------------------------------------------------------------

// kubernetes: pkg/controller/garbagecollector, absentOwnerCache.
inline constexpr std::size_t absent_owners = 500;
// Deletions under way at the writer.
inline constexpr std::size_t garbage_in_flight = 500;
// It sees every change of the cluster.
inline constexpr std::uint32_t garbage_credit = 10'000;

// -- what is emptied before it goes: namespaces, definitions --------------------------------------

// Deletions of one object's content under way.
inline constexpr std::size_t content_in_flight = 500;
// Between two looks at an object whose content takes its time to go.
inline constexpr duration content_first_pause = 50ms;
inline constexpr duration content_longest_pause = 2s;

// -- logs of containers ---------------------------------------------------------------------------

// Read and sent at once, and how often a followed log is read.
inline constexpr std::size_t log_part_bytes = 64u << 10;
inline constexpr duration log_follow_period = 200ms;

// -- events ---------------------------------------------------------------------------------------

// kubernetes: client-go/tools/record/events_cache.go: what one component may say of one object, and
// how many different events are remembered for counting.
inline constexpr double event_burst = 25;
inline constexpr duration event_interval = 5min;
inline constexpr std::size_t event_cache = 4'096;
// kube-apiserver --event-ttl.
inline constexpr duration event_time_to_live = 1h;
inline constexpr duration event_sweep = 60s;
inline constexpr std::size_t event_sweep_batch = 100;
// Batches under way; the next ones go when these are done.
inline constexpr std::size_t event_batches = 100;
// The newest events that are kept, by number and by size of their stored forms: they take about as
// much memory, and a tenth more for keys and index. How often that is looked at; the part (1/n) by
// which the rest is below the bound when events had to go.
inline constexpr std::size_t events_kept = 100'000;
inline constexpr std::size_t event_bytes_kept = 64u << 20;
inline constexpr duration event_bound_period = 500ms;

// kubernetes: pkg/registry/core/pod/storage/eviction.go, MaxDisruptedPodSize and the answer of a
// budget whose status is older than its spec.
inline constexpr int most_disrupted_pods = 2'000;
inline constexpr int budget_retry_seconds = 10;

// What is used of a quota stands in its status so much later at most; thousands of creations a
// second make ten writes. kubernetes: conformance tests wait 60 s.
inline constexpr duration quota_status_period = 100ms;
inline constexpr std::size_t event_room = 20;

}  // namespace troupe::actors::defaults
