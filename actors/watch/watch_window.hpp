// The newest changes of the store in memory, from which live subscribers and slightly lagging ones
// are served. Owned by the watcher.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string_view>

#include "persistence/store/store.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

class watch_window {
 public:
  // Keeps the newest batches within these bounds, and always the last one.
  watch_window(std::size_t change_limit, std::size_t byte_limit)
      : change_limit_{change_limit}, byte_limit_{byte_limit} {}

  // Clears the window; the next batch follows revision `at`.
  void begin(persistence::revision at);
  // Only batches with revisions above newest().
  void add(persistence::change_batch batch, runtime::time_point now);
  // Drops the batches that were added before `time`.
  void forget(runtime::time_point time);

  // The window contains all changes after this revision.
  persistence::revision from() const noexcept { return from_; }
  persistence::revision newest() const noexcept { return newest_; }

  // Calls bool visit(const change&) for the changes after `after`, until it returns false.
  template <class F>
  void each(persistence::revision after, F visit) const {
    auto batch =
        std::upper_bound(batches_.begin(), batches_.end(), after,
                         [](auto at, const entry& e) { return at < e.changes->back().at; });
    for (; batch != batches_.end(); ++batch) {
      const auto& changes = *batch->changes;
      auto c = std::upper_bound(changes.begin(), changes.end(), after,
                                [](auto at, const auto& change) { return at < change.at; });
      for (; c != changes.end(); ++c) {
        if (!visit(*c)) return;
      }
    }
  }

  // The cause of a key's change at this revision; empty if it is not in the window.
  persistence::change_cause cause(persistence::revision at, std::string_view key) const;

  std::size_t changes() const noexcept { return changes_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct entry {
    persistence::change_batch changes;
    std::size_t bytes;
    runtime::time_point added;
  };

  void drop_oldest();

  std::size_t change_limit_;
  std::size_t byte_limit_;
  std::deque<entry> batches_;
  std::size_t changes_ = 0;
  std::size_t bytes_ = 0;
  persistence::revision from_ = 0;
  persistence::revision newest_ = 0;
};

}  // namespace troupe::actors
