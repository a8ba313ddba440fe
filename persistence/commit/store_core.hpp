// The state shared by the parts of one store: the disk, the newest state, counters.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <shared_mutex>
#include <string>

#include "persistence/commit/space_manager.hpp"
#include "persistence/commit/sync_times.hpp"
#include "persistence/engine/engine.hpp"
#include "persistence/open/loader.hpp"
#include "persistence/store_options.hpp"
#include "persistence/tree/tree.hpp"

namespace troupe::persistence {

struct store_core {
  store_core(store_options wanted, engine_factory engines, loaded_store&& loaded,
             std::unique_ptr<space_manager> manager)
      : options{std::move(wanted)},
        factory{std::move(engines)},
        cluster_id{std::move(loaded.cluster_id)},
        gaps{std::move(loaded.gaps)},
        disk{std::move(loaded.disk)},
        root{std::move(loaded.root)},
        compacted{loaded.compacted},
        log_bytes{disk->size_bytes(table::changes)},
        space{std::move(manager)} {}

  store_options options;
  engine_factory factory;
  std::string cluster_id;
  const revision_gaps gaps;  // as of the opening of the store

  // Replaced by a commit thread, under a unique lock, while no batch is in the pipeline. All other
  // threads use it under a shared lock. Null while a failed engine is being reopened.
  std::unique_ptr<engine> disk;
  mutable std::shared_mutex disk_mutex;

  std::atomic<std::shared_ptr<const tree_root>> root;
  // Raised before history is dropped: a reader whose first revision is still above this value
  // afterwards has missed nothing.
  std::atomic<revision> compacted{0};
  // The bytes in `changes` after `compacted`; at the opening, the size of the table's files.
  std::atomic<std::uint64_t> log_bytes;
  std::atomic<std::uint64_t> unchecked_bytes{0};  // written since maintenance last checked history
  std::atomic<std::uint64_t> unseen_bytes{0};     // ... since is_behind() was last asked
  const std::unique_ptr<space_manager> space;

  std::atomic<std::uint64_t> transactions{0}, conflicts{0}, batches{0};
  std::atomic<bool> read_only{false};
  sync_times syncs;

  std::chrono::system_clock::time_point now() const {
    return options.wall_clock ? options.wall_clock() : std::chrono::system_clock::now();
  }
};

}  // namespace troupe::persistence
