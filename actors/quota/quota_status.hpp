// The controller that writes limits and usage to the status of each ResourceQuota, each
// `defaults::quota_status_period` while there are quotas and changes. Many changes cause one
// write.
//
// It keeps only a timer and reads the changes from the ledger; a failed write is retried in the
// next period. kubernetes: pkg/controller/resourcequota.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "actors/quota/quota_ledger.hpp"

namespace troupe::actors::quota {

class quota_status : public informer {
 public:
  // The store must outlive it.
  quota_status(const persistence::store* store, core_actors core,
               std::shared_ptr<quota_ledger> ledger);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  void on_quotas(const watch_events& m);
  void write_changed();
  void write(const quota_ledger::usage& usage);

  const persistence::store& store_;
  const core_actors core_;
  const std::shared_ptr<quota_ledger> ledger_;
  std::set<std::string> quotas_;  // keys
  std::uint64_t written_ = 0;
  runtime::timer round_;
};

}  // namespace troupe::actors::quota
