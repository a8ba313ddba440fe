// The constants of the control plane's behaviour with their sources.
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

// Attempts of a write with conflicts (upstream: client-go util/retry.DefaultRetry;
// apiserver/pkg/endpoints/handlers/patch.go, MaxRetryWhenPatchConflicts).
inline constexpr int write_attempts = 5;
// The maximum of writes that wait for a retry.
inline constexpr std::size_t write_again_queue = 1'000;
// Timeout of a request to the writer: a disk that stalls for longer is
// broken.
inline constexpr duration write_timeout = 30s;
// The maximum of pending calls of external admission steps, as many as a server's writes in flight
// and controllers' creations together; the period of the check for timeouts.
inline constexpr std::size_t external_waiting = 1'000;
inline constexpr duration external_round = 1s;

// -- services -------------------------------------------------------------------------------------

// upstream: service-cluster-ip-range of kubeadm, service-node-port-range.
inline constexpr const char* service_network = "10.96.0.0/12";
// The address of the Service default/kubernetes: the first of the network.
inline constexpr const char* api_service_address = "10.96.0.1";
inline constexpr int first_node_port = 30'000;
inline constexpr int last_node_port = 32'767;
// Random tries for a free number before a linear search; enough until almost all are taken.
inline constexpr int allocation_probes = 32;
// Attempts after another request took the same number at the same moment. Each time one request
// succeeds, so more than the default maximum of writes in flight (200) is enough.
inline constexpr int allocation_attempts = 256;

// -- capacity -------------------------------------------------------------------------------------

// The maximum of pods if it is not configured: twice the pods that the nodes can run leaves room
// for rollouts, terminating and pending pods. The minimum is the load with which a cluster of one
// node is tested.
inline constexpr std::uint64_t pod_capacity_factor = 2;
inline constexpr std::uint64_t least_pod_capacity = 10'000;

// -- watcher --------------------------------------------------------------------------------------

// Recent changes that the watcher keeps in memory, by number, by encoded size (decoded objects take
// about five times as much) and by age. Older revisions are served from the log on disk.
inline constexpr std::size_t window_changes = 20'000;
inline constexpr std::size_t window_bytes = 16u << 20;
inline constexpr duration window_time = 60s;
// Records read from the log at once for a subscriber that is behind the window.
inline constexpr std::size_t log_part_changes = 1'000;
// Timeout of a log read; it is then requested again.
inline constexpr duration log_read_limit = 30s;
// The maximum of events in a message, unless one revision has more.
inline constexpr std::int64_t message_events = 1'000;
// The maximum of queued log reads; further subscribers retry later.
inline constexpr std::size_t log_queue_limit = 1'000;
// The period of checks for subscribers that wait and for batches that were not delivered.
inline constexpr duration watcher_round = 1s;
// Bound of the cached encodings of objects (JSON, protobuf), enough for some 10,000 pods. Entries
// beyond it, and those unused for a minute, are dropped.
inline constexpr std::size_t text_bytes = 64u << 20;
// Timeout of a subscriber's initial state: a slow subscriber must not keep an old snapshot
// alive.
inline constexpr duration initial_state_limit = 60s;
// kubernetes: apiserver/pkg/storage/cacher, bookmarks about each minute.
inline constexpr duration bookmark_period = 60s;
// The maximum of events in flight to one subscriber.
inline constexpr std::uint32_t stream_credit = 1'000;
// The period in which an informer detects that the watcher dropped its stream although the watcher
// did not restart: `watch_ended` may have met a full mailbox.
inline constexpr duration stream_heartbeat = 60s;

// -- pods -----------------------------------------------------------------------------------------

// Pods that name another scheduler are ignored.
inline constexpr const char* scheduler_name = "default-scheduler";
// An unbound pod repeats its request after this time, in case the scheduler lost it in a crash.
inline constexpr duration schedule_again = 60s;
// Pause before the retry of a command that failed with a temporary error.
inline constexpr duration try_again = 1s;
// kubernetes: pkg/controller/podgc: delay for pods of a deleted node, the number of terminated pods
// to keep, and the period of that check.
inline constexpr duration vanished_node_quarantine = 40s;
inline constexpr std::size_t terminated_pods_kept = 12'500;
inline constexpr duration terminated_pods_round = 20s;

// -- minions --------------------------------------------------------------------------------------

// kubernetes: kube-controller-manager --node-monitor-grace-period (40 s up to 1.31, where a lease
// lasts as long), --node-startup-grace-period, --node-monitor-period.
inline constexpr duration node_grace = 40s;
// Additional grace for a node that has never posted its status.
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
// The maximum of deletions in flight at the writer.
inline constexpr std::size_t garbage_in_flight = 500;
// The collector receives every change of the cluster.
inline constexpr std::uint32_t garbage_credit = 10'000;

// -- deletion of content: namespaces, definitions -------------------------------------------------

// The maximum of deletions in flight for the content of one object.
inline constexpr std::size_t content_in_flight = 500;
// Pause between two checks of an object whose content is being deleted.
inline constexpr duration content_first_pause = 50ms;
inline constexpr duration content_longest_pause = 2s;

// -- logs of containers ---------------------------------------------------------------------------

// Size of one read and message, and the poll period of a followed log.
inline constexpr std::size_t log_part_bytes = 64u << 10;
inline constexpr duration log_follow_period = 200ms;

// -- events ---------------------------------------------------------------------------------------

// kubernetes: client-go/tools/record/events_cache.go: the rate limit of events of one component
// about one object, and the number of distinct events that are kept for aggregation.
inline constexpr double event_burst = 25;
inline constexpr duration event_interval = 5min;
inline constexpr std::size_t event_cache = 4'096;
// kube-apiserver --event-ttl.
inline constexpr duration event_time_to_live = 1h;
inline constexpr duration event_sweep = 60s;
inline constexpr std::size_t event_sweep_batch = 100;
// The maximum of batches in flight; later batches wait.
inline constexpr std::size_t event_batches = 100;
// Bounds of stored events, by number and by stored size: memory is about the size plus a tenth for
// keys and index. Then the period of the check, and the fraction (1/n) by which the rest is below
// the bound after events were deleted.
inline constexpr std::size_t events_kept = 100'000;
inline constexpr std::size_t event_bytes_kept = 64u << 20;
inline constexpr duration event_bound_period = 500ms;

// kubernetes: pkg/registry/core/pod/storage/eviction.go, MaxDisruptedPodSize and the answer of a
// budget whose status is older than its spec.
inline constexpr int most_disrupted_pods = 2'000;
inline constexpr int budget_retry_seconds = 10;

// The maximum delay of a quota's usage in its status; thousands of creations a second cause ten
// writes. kubernetes: conformance tests wait 60 s.
inline constexpr duration quota_status_period = 100ms;
inline constexpr std::size_t event_room = 20;

}  // namespace troupe::actors::defaults
