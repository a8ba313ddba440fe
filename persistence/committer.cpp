#include "persistence/committer.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "persistence/defaults.hpp"
#include "persistence/history.hpp"
#include "persistence/loader.hpp"

namespace troupe::persistence {

committer::committer(store_core& core, revision floor, revision horizon)
    : core_{core}, edit_{*core.root.load()}, horizon_{horizon}, floor_{floor} {}

committer::horizon_change committer::raise_horizon(revision to) {
  const auto before = std::exchange(horizon_, std::max(horizon_, to));
  return {core_.root.load(), before};
}

void committer::begin() {
  if (rows_ == nullptr)
    rows_ = core_.disk->make_batch();
  else
    rows_->clear();
}

expected<void> committer::commit(std::vector<submission>& taken) {
  begin();
  staging staged{edit_, *rows_, {core_.root.load()->at(), horizon_, core_.now()}};
  std::vector<outcome> outcomes;
  outcomes.reserve(taken.size());
  std::uint64_t conflicts = 0;
  for (auto& each : taken) {
    outcomes.push_back(staged.apply(each));
    if (!outcomes.back()) ++conflicts;
  }
  if (!staged.empty()) {
    if (auto written = write(staged); !written) {
      edit_ = tree_edit{*core_.root.load()};
      rows_.reset();
      return written;
    }
    publish(staged.last(), staged.changes());
  }
  core_.conflicts.fetch_add(conflicts, std::memory_order_relaxed);
  core_.transactions.fetch_add(taken.size() - conflicts, std::memory_order_relaxed);
  for (std::size_t i = 0; i < taken.size(); ++i)
    taken[i].done(std::move(outcomes[i]));
  return {};
}

expected<void> committer::write(const staging& staged) {
  const revision last = staged.last();
  if (!staged.durable()) relaxed_seen_ = true;
  bool synced =
      staged.durable() || unsynced_bytes_ + rows_->size_bytes() > defaults::unsynced_bytes;
  synced = reserve_revisions(last, synced);
  const auto began = std::chrono::steady_clock::now();
  auto written = core_.disk->write(*rows_, synced ? durability::synced : durability::buffered);
  if (!written) return written;
  after_write(last, synced, std::chrono::steady_clock::now() - began);
  return {};
}

// An unsynced write may be lost with its revision, which somebody has seen; the disk must know that
// it was taken. True when the batch has to be synced.
bool committer::reserve_revisions(revision last, bool synced) {
  const bool short_of = relaxed_seen_ && floor_ < last + defaults::revision_reserve / 2;
  const bool exceeded = !synced && floor_ < last;
  if (!exceeded && !(synced && short_of)) return synced;
  floor_ = last + defaults::revision_reserve;
  rows_->put(table::meta, meta_key::floor, std::to_string(floor_));
  return true;
}

void committer::after_write(revision last, bool synced, std::chrono::nanoseconds took) {
  core_.batches.fetch_add(1, std::memory_order_relaxed);
  written_ = last;
  if (synced) {
    core_.disk->acknowledge(last);
    core_.syncs.add(took);
    unsynced_.clear();
    unsynced_bytes_ = 0;
    return;
  }
  unsynced_bytes_ += rows_->size_bytes();
  unsynced_.push_back({std::move(rows_), last});
}

void committer::publish(revision at, change_batch changes) {
  core_.root.store(edit_.freeze(at));
  if (observer_) observer_(std::move(changes));
}

expected<void> committer::recover() {
  if (core_.disk != nullptr)
    if (auto alive = core_.disk->probe(); !alive) return alive;
  {
    std::unique_lock lock{core_.disk_mutex};
    rows_.reset();
    core_.disk.reset();  // before the new one: both would want the lock on the directory
    auto opened = open_engine(core_.factory, open_mode::rewrite);
    if (!opened) return fail(std::move(opened.error()));
    core_.disk = std::move(*opened);
    const auto compacted = read_meta(*core_.disk, meta_key::compacted);
    if (!compacted) return fail(compacted.error());
    // A compaction that seemed to fail may have reached the disk.
    core_.compacted = std::max(core_.compacted.load(), *compacted);
  }
  auto on_disk = last_revision(*core_.disk);
  if (!on_disk) return fail(std::move(on_disk.error()));
  if (auto done = rewrite_unsynced(*on_disk); !done) return done;
  return adopt(*on_disk);
}

expected<void> committer::rewrite_unsynced(revision on_disk) {
  for (auto& each : unsynced_)
    if (each.last > on_disk)
      if (auto done = core_.disk->write(*each.rows, durability::buffered); !done) return done;
  const revision survived = unsynced_.empty() ? on_disk : std::max(on_disk, unsynced_.back().last);
  if (survived < written_)
    return fail(errc::corrupt,
                fmt::format("the disk came back without the changes from revision {} to {}",
                            survived + 1, written_));
  // Also the proof that the log takes writes again.
  begin();
  floor_ = std::max({floor_, core_.root.load()->at(), on_disk});
  rows_->put(table::meta, meta_key::floor, std::to_string(floor_));
  if (auto done = core_.disk->write(*rows_, durability::synced); !done) return done;
  unsynced_.clear();
  unsynced_bytes_ = 0;
  return {};
}

expected<void> committer::adopt(revision on_disk) {
  const auto now = core_.root.load();
  edit_ = tree_edit{*now};
  if (on_disk <= now->at()) return {};
  auto found =
      read_changes(*core_.disk, *now, now->at(), on_disk, std::numeric_limits<std::size_t>::max());
  if (!found) return fail(std::move(found.error()));
  for (const auto& each : *found) {
    if (each.type == change_type::removed) {
      edit_.remove(each.key);
      continue;
    }
    const entry* old = edit_.find(each.key);
    edit_.put(each.key, each.object, old == nullptr ? each.at : old->created());
  }
  spdlog::warn("store: {} changes up to revision {} had reached the disk before it failed",
               found->size(), on_disk);
  core_.disk->acknowledge(on_disk);
  written_ = on_disk;
  publish(on_disk, std::make_shared<const std::vector<change>>(std::move(*found)));
  return {};
}

void committer::close() {
  if (core_.disk == nullptr) return;
  const revision current = core_.root.load()->at();
  if (floor_ > current) {
    begin();
    rows_->put(table::meta, meta_key::floor, std::to_string(current));
    if (auto done = core_.disk->write(*rows_, durability::synced); !done)
      spdlog::warn("store: {}", done.error().message);
  } else if (!unsynced_.empty()) {
    if (auto done = core_.disk->sync(); !done) spdlog::warn("store: {}", done.error().message);
  }
}

}  // namespace troupe::persistence
