// The store's metrics, with etcd's names where etcd has them.
#include "api/scheme.hpp"
#include "persistence/store/audited.hpp"
#include "server/metrics/families.hpp"

namespace troupe::server {

using prometheus::MetricType;

namespace {

// The first one has the name used by upstream's components.
void add_leader_metrics(families& out, const persistence::leadership& leader) {
  family{out, "leader_election_master_status", "1 while this control plane leads.",
         MetricType::Gauge}
      .gauge(leader.is_here ? 1 : 0, {{"name", "troupe"}});
  add_counter(out, "troupe_leader_changes_total", "Leadership terms seen by this process.",
              static_cast<double>(leader.changes));
  add_gauge(out, "troupe_leader_since_seconds",
            "Start of the current term, in seconds since 1970; 0 without a leader.",
            std::chrono::duration<double>{leader.since.time_since_epoch()}.count());
  if (leader.term != 0)
    family{out, "troupe_leader_info", "1, with the name of the leading control plane.",
           MetricType::Gauge}
        .gauge(1, {{"holder", leader.node}});
  family{out, "troupe_leader_terms_ended_total",
         "Leadership terms whose end this process has noticed, by reason.", MetricType::Counter}
      .counter(static_cast<double>(leader.ends.resigned), {{"reason", "resigned"}})
      .counter(static_cast<double>(leader.ends.expired), {{"reason", "lease-expired"}})
      .counter(static_cast<double>(leader.ends.unseen), {{"reason", "unseen"}});
}

}  // namespace

void add_store_metrics(families& out, const persistence::store& store) {
  const auto stats = store.stats();
  const auto seconds = [](std::chrono::nanoseconds t) {
    return std::chrono::duration<double>{t}.count();
  };
  add_gauge(out, "etcd_debugging_mvcc_current_revision", "The newest revision.",
            static_cast<double>(stats.current));
  add_gauge(out, "etcd_debugging_mvcc_compact_revision", "History begins after this revision.",
            static_cast<double>(stats.compacted));
  add_gauge(out, "etcd_debugging_mvcc_keys_total", "Stored objects.",
            static_cast<double>(stats.objects));
  add_gauge(out, "etcd_mvcc_db_total_size_in_bytes", "Size of the objects and of the log.",
            static_cast<double>(stats.log_bytes + stats.object_bytes));
  add_gauge(out, "troupe_store_log_limit_bytes", "Size limit of the log.",
            static_cast<double>(stats.log_limit_bytes));
  add_gauge(out, "troupe_store_disk_bytes", "Size of the store's files.",
            static_cast<double>(stats.disk_bytes));
  add_gauge(out, "troupe_store_disk_free_bytes", "Free space on the store's disk.",
            static_cast<double>(stats.disk_free_bytes));
  add_gauge(out, "troupe_store_low_space",
            "1 while the disk is nearly full and nothing is created.", stats.low_space ? 1 : 0);
  add_counter(out, "etcd_mvcc_txn_total", "Committed transactions.",
              static_cast<double>(stats.transactions));
  family{out, "etcd_disk_wal_fsync_duration_seconds", "Time of the last syncs.",
         MetricType::Summary}
      .summary(stats.batches, {{0.5, seconds(stats.sync_p50)}, {0.99, seconds(stats.sync_p99)}});
  add_counter(out, "troupe_store_batches_total", "Committed batches, each with one sync.",
              static_cast<double>(stats.batches));
  add_counter(out, "troupe_store_conflicts_total", "Transactions whose preconditions failed.",
              static_cast<double>(stats.conflicts));
  add_gauge(out, "troupe_store_queued_transactions", "Transactions waiting for the writer.",
            static_cast<double>(stats.queued));
  add_gauge(out, "troupe_store_read_only", "1 while the disk cannot be written.",
            stats.read_only ? 1 : 0);
  if (stats.leader) {
    add_leader_metrics(out, *stats.leader);
    add_gauge(out, "troupe_store_log_full",
              "1 while etcd has used its quota and nothing is created.", stats.log_full ? 1 : 0);
  }
  if (const auto* compared = dynamic_cast<const persistence::audited*>(&store))
    add_counter(out, "troupe_store_audit_differences_total",
                "Objects that differed from the cluster's state when they were compared.",
                static_cast<double>(compared->audit_differences()));
  family objects{out, "apiserver_storage_objects", "Stored objects, by resource.",
                 MetricType::Gauge};
  const auto state = store.read();
  for (const auto* kind : api::scheme::instance().all()) {
    if (!kind->stored()) continue;
    if (const auto count = state.count(kind->prefix()); count > 0)
      objects.gauge(static_cast<double>(count), {{"resource", kind->qualified_plural()}});
  }
}

}  // namespace troupe::server
