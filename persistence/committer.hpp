// What the commit thread does: it takes transactions in batches through check, disk, memory and
// answer, in this order, and gets the store back on its feet after the disk has failed.
//
// Every member function belongs to the commit thread (or, in a store without threads, to whoever
// submits); what others may read is in store_core.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "persistence/staging.hpp"
#include "persistence/store_core.hpp"

namespace troupe::persistence {

class committer {
 public:
  committer(store_core& core, revision floor, revision horizon);

  // Commits and answers all of them. When the disk fails they are told so, and the error comes
  // back: nothing may be committed until recover() has succeeded.
  expected<void> commit(std::vector<submission>& taken);

  // Opens the disk anew and brings it and memory to the same state: unsynced batches are written
  // again, changes that had reached the disk after all are made visible.
  expected<void> recover();

  // Writes down what makes the next start simple. After the last commit.
  void close();

  void observer(std::function<void(change_batch)> what) { observer_ = std::move(what); }
  struct horizon_change {
    std::shared_ptr<const tree_root> seen;  // the state at this moment
    revision before;
  };
  // From the next batch on, states up to `to` are kept as bases when they are replaced.
  horizon_change raise_horizon(revision to);

 private:
  // A batch that was acknowledged before it was synced.
  struct unsynced {
    std::unique_ptr<write_batch> rows;
    revision last;
  };

  void begin();
  expected<void> write(const staging& staged);
  bool reserve_revisions(revision last, bool synced);
  void after_write(revision last, bool synced, std::chrono::nanoseconds took);
  void publish(revision at, change_batch changes);
  expected<void> rewrite_unsynced(revision on_disk);
  expected<void> adopt(revision on_disk);

  store_core& core_;
  tree_edit edit_;
  std::unique_ptr<write_batch> rows_;
  std::vector<unsynced> unsynced_;
  std::size_t unsynced_bytes_ = 0;
  revision horizon_;
  revision floor_;
  revision written_ = 0;  // by this process: the disk must never come back with less
  bool relaxed_seen_ = false;
  std::function<void(change_batch)> observer_;
};

}  // namespace troupe::persistence
