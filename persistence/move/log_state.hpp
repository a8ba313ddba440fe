// A shared log: etcd.
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
  // The log outlives it, and nothing is written there; `invalid` when it holds no cluster.
  // `compacted` errors may come when it takes longer than the log keeps the
  // revision that is read: then it is to be done again.
  static expected<std::unique_ptr<log_source>> open(blocking_log& log);

  const cluster_head& head() const override { return head_; }
  expected<std::vector<stored_item>> next() override;

 private:
  log_source(blocking_log& log, cluster_record record);

  upstream_log upstream_;
  blocking_log log_;  // through `upstream_` where the record says so
  const cluster_record record_;
  cluster_head head_;
  log_page page_;
  bool first_ = true;
};

// `/troupe/cluster` says that the state is not whole until it is. What is there of an earlier
// attempt with the same state is not written again.
class log_target final : public state_target {
 public:
  log_target(blocking_log& log, upstream_target target, lease_rule leases)
      : leased_{log.log(), std::move(leases)},
        upstream_{leased_, target},
        log_{log.over(upstream_)} {}

  // `invalid` when the log holds a cluster, or a part of another state.
  expected<void> begin(const cluster_head& head) override;
  expected<void> add(std::vector<stored_item> items) override;
  expected<void> finish() override;

 private:
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
