#include "persistence/commit/committer.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "persistence/defaults.hpp"
#include "persistence/log/history.hpp"
#include "persistence/open/loader.hpp"

namespace troupe::persistence {

committer::committer(store_core& core, revision floor, revision horizon, revision sealed_since)
    : core_{core},
      edit_{*core.root.load()},
      digest_{state_digest::of(*core.root.load())},
      sealed_since_{sealed_since},
      staged_{core.root.load()->at()},
      horizon_{horizon},
      floor_{floor} {}

committer::horizon_change committer::raise_horizon(revision to) {
  const auto before = std::exchange(horizon_, std::max(horizon_, to));
  return {core_.root.load(), before};
}

// -- staging --------------------------------------------------------------------------------------

std::unique_ptr<batch> committer::begin() {
  auto rows = core_.disk->make_batch();
  staging staged{edit_, digest_, *rows, {staged_, horizon_, core_.now(), core_.space.get()}};
  return std::make_unique<batch>(batch{std::move(rows), std::move(staged), {}, {}, nullptr});
}

void committer::stage(batch& into, std::vector<submission> taken) {
  for (auto& each : taken) {
    into.outcomes.push_back(into.staged.apply(each));
    into.taken.push_back(std::move(each));
  }
}

void committer::seal(batch& pending) {
  staged_ = pending.staged.last();
  if (pending.staged.empty()) return;
  horizon_ = std::max(horizon_, pending.staged.begins());
  pending.state = edit_.freeze(staged_);
  pending.rows->put(table::meta, meta_key::digest,
                    sealed_state{staged_, sealed_since_, digest_}.str());
}

// -- the disk -------------------------------------------------------------------------------------

expected<void> committer::write(batch& pending) {
  if (failure_) return fail(*failure_);
  if (pending.staged.empty()) return {};
  auto written = write_rows(pending);
  if (!written) failure_ = written.error();
  return written;
}

expected<void> committer::write_rows(batch& pending) {
  const bool durable = pending.staged.durable();
  if (!durable) relaxed_seen_ = true;
  bool synced = durable || unsynced_bytes_ + pending.rows->size_bytes() > defaults::unsynced_bytes;
  if (!core_.options.replica)
    synced = reserve_revisions(*pending.rows, pending.staged.last(), synced);
  const auto began = std::chrono::steady_clock::now();
  auto written =
      core_.disk->write(*pending.rows, synced ? durability::synced : durability::buffered);
  if (!written) return written;
  after_write(pending, synced, std::chrono::steady_clock::now() - began);
  return {};
}

// An unsynced write may be lost although a client has seen its revision, so the disk must record a
// limit of used revisions. Returns true if the batch must be synced.
bool committer::reserve_revisions(write_batch& rows, revision last, bool synced) {
  const bool short_of = relaxed_seen_ && floor_ < last + defaults::revision_reserve / 2;
  const bool exceeded = !synced && floor_ < last;
  if (!exceeded && !(synced && short_of)) return synced;
  floor_ = last + defaults::revision_reserve;
  rows.put(table::meta, meta_key::floor, std::to_string(floor_));
  return true;
}

void committer::after_write(batch& pending, bool synced, std::chrono::nanoseconds took) {
  core_.batches.fetch_add(1, std::memory_order_relaxed);
  written_ = pending.staged.last();
  if (pending.staged.begins() != 0) core_.log_bytes = 0;
  core_.log_bytes += pending.staged.log_bytes();
  core_.unchecked_bytes += pending.rows->size_bytes();
  core_.unseen_bytes += pending.rows->size_bytes();
  core_.space->count_written(pending.rows->size_bytes());
  if (synced) {
    core_.disk->acknowledge(written_);
    core_.syncs.add(took);
    unsynced_.clear();
    unsynced_bytes_ = 0;
    return;
  }
  unsynced_bytes_ += pending.rows->size_bytes();
  unsynced_.push_back({std::move(pending.rows), written_});
}

// -- answers --------------------------------------------------------------------------------------

void committer::publish(batch& pending) {
  if (const auto begins = pending.staged.begins(); begins != 0) core_.compacted = begins;
  if (pending.state)
    make_visible(pending.state, pending.staged.changes(),
                 std::max(core_.root.load()->at(), pending.staged.begins()));
  std::uint64_t conflicts = 0;
  for (const auto& each : pending.outcomes)
    conflicts += !each;
  core_.conflicts.fetch_add(conflicts, std::memory_order_relaxed);
  core_.transactions.fetch_add(pending.outcomes.size() - conflicts, std::memory_order_relaxed);
  for (std::size_t i = 0; i < pending.taken.size(); ++i)
    pending.taken[i].done(std::move(pending.outcomes[i]));
}

void committer::make_visible(std::shared_ptr<const tree_root> state, change_batch changes,
                             revision after) {
  if (index_ && !changes->empty()) index_(*changes);
  core_.root.store(std::move(state));
  if (observer_ && !changes->empty()) observer_(after, std::move(changes));
}

// -- after the disk has failed --------------------------------------------------------------------

expected<void> committer::recover() {
  if (core_.disk != nullptr)
    if (auto alive = core_.disk->probe(); !alive) return alive;
  {
    std::unique_lock lock{core_.disk_mutex};
    core_.disk.reset();  // before the new one: the directory has one lock
    auto opened = open_engine(core_.factory, open_mode::rewrite);
    if (!opened) return fail(std::move(opened.error()));
    core_.disk = std::move(*opened);
    const auto compacted = read_meta(*core_.disk, meta_key::compacted);
    if (!compacted) return fail(compacted.error());
    // A compaction that reported an error may have reached the disk.
    core_.compacted = std::max(core_.compacted.load(), *compacted);
  }
  auto on_disk = last_revision(*core_.disk);
  if (!on_disk) return fail(std::move(on_disk.error()));
  if (auto done = rewrite_unsynced(*on_disk); !done) return done;
  auto adopted = adopt(*on_disk);
  if (!adopted) return adopted;
  digest_ = state_digest::of(*core_.root.load());
  failure_.reset();
  return {};
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
  // This write also proves that the disk accepts writes again.
  const auto rows = core_.disk->make_batch();
  floor_ = std::max({floor_, core_.root.load()->at(), on_disk});
  rows->put(table::meta, meta_key::floor, std::to_string(floor_));
  if (auto done = core_.disk->write(*rows, durability::synced); !done) return done;
  unsynced_.clear();
  unsynced_bytes_ = 0;
  return {};
}

expected<void> committer::adopt(revision on_disk) {
  const auto now = core_.root.load();
  edit_ = tree_edit{*now};
  staged_ = std::max(now->at(), on_disk);
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
    const auto stored = api::to_storage(each.object->kind(), each.object->content());
    edit_.put(each.key, each.object, old == nullptr ? each.at : old->created(),
              static_cast<std::uint32_t>(stored.size()));
  }
  spdlog::warn("store: {} changes up to revision {} had reached the disk before it failed",
               found->size(), on_disk);
  core_.disk->acknowledge(on_disk);
  written_ = on_disk;
  make_visible(edit_.freeze(on_disk),
               std::make_shared<const std::vector<change>>(std::move(*found)), now->at());
  return {};
}

void committer::close() {
  if (core_.disk == nullptr) return;
  const revision current = core_.root.load()->at();
  if (floor_ > current) {
    const auto rows = core_.disk->make_batch();
    rows->put(table::meta, meta_key::floor, std::to_string(current));
    if (auto done = core_.disk->write(*rows, durability::synced); !done)
      spdlog::warn("store: {}", done.error().message);
  } else if (!unsynced_.empty()) {
    if (auto done = core_.disk->sync(); !done) spdlog::warn("store: {}", done.error().message);
  }
}

}  // namespace troupe::persistence
