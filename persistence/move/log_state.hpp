// A shared log (etcd) as source or target of a copy.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "persistence/move/cluster_state.hpp"
#include "persistence/replica/blocking_log.hpp"
#include "persistence/replica/cluster_record.hpp"
#include "persistence/replica/leased_log.hpp"
#include "persistence/replica/upstream_log.hpp"

namespace troupe::persistence {

class log_source final : public state_source {
 public:
  // The log must outlive the source and is not written to. Fails with `invalid` if it holds no
  // cluster. Whether control planes serve it is not checked (live_servers.hpp). If the copy takes
  // longer than the log keeps the revision, next() fails with
  // `compacted`: start again.
  static expected<std::unique_ptr<log_source>> open(blocking_log& log);

  const cluster_head& head() const override { return head_; }
  expected<std::vector<stored_item>> next() override;

 private:
  log_source(blocking_log& log, cluster_record record);

  upstream_log upstream_;
  blocking_log log_;  // through `upstream_` if the record says so
  const cluster_record record_;
  cluster_head head_;
  log_page page_;
  bool first_ = true;
};

// Until finish(), the key `/troupe/cluster` marks the state as incomplete. Items that an earlier
// attempt with the same state has written are not written again.
class log_target final : public state_target {
 public:
  log_target(blocking_log& log, upstream_target target, lease_rule leases)
      : leased_{log.log(), std::move(leases)},
        upstream_{leased_, target},
        log_{log.over(upstream_)} {}

  // Fails with `invalid` if the log holds a cluster, or a part of another state.
  expected<void> begin(const cluster_head& head) override;
  expected<void> add(std::vector<stored_item> items) override;
  expected<void> finish() override;

 private:
  error not_empty();
  expected<void> read_present();
  expected<void> write(log_transaction part);

  leased_log leased_;
  upstream_log upstream_;
  blocking_log log_;
  cluster_record record_;
  revision modified_ = 0;                                    // of the record
  std::map<std::string, std::size_t, std::less<>> present_;  // hashes of values
};

}  // namespace troupe::persistence
