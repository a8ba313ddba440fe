// The part of local_store that drops history and pins, and returns space to the disk.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "persistence/defaults.hpp"
#include "persistence/log/compaction.hpp"
#include "persistence/store/local_store.hpp"

namespace troupe::persistence {

void local_store::run_maintenance() {
  core_.space->check_disk();  // creates the reserve of a new store
  while (!closing_) {
    {
      std::unique_lock lock{maintenance_mutex_};
      const auto period =
          core_.space->low() ? defaults::low_space_period : defaults::maintenance_period;
      maintenance_wanted_.wait_for(lock, period, [this] { return maintenance_now_ || closing_; });
      maintenance_now_ = false;
    }
    if (closing_) return;
    const bool cut = maintenance();
    check_disk();
    reclaim_space();
    catch_up();
    if (cut) core_.space->history_truncated();
  }
}

bool local_store::maintenance() {
  pins_.expire(core_.now());
  core_.space->check_disk();
  return truncate_history();
}

bool local_store::truncate_history() {
  if (core_.read_only) return false;
  const auto& keep = core_.options;
  const revision current = core_.root.load()->at();
  const revision compacted = core_.compacted;
  maintenance_due_ = std::max(current, compacted + keep.history_revisions) +
                     std::max<revision>(1, keep.history_revisions / defaults::compaction_slack);
  core_.unchecked_bytes = 0;
  expected<revision> target{compacted};
  {
    std::shared_lock lock{core_.disk_mutex};
    if (core_.disk == nullptr) return false;
    target = compaction_target(
        *core_.disk, {keep.history_revisions, keep.history_time, core_.space->history_bytes()},
        core_.gaps, {compacted, current, core_.log_bytes}, core_.now());
  }
  auto done = target ? drop_history(*target) : fail(target.error());
  if (!done) spdlog::warn("store: history was not cut: {}", done.error().message);
  return done.has_value();
}

// While space is low, returns the space of removed rows to the disk at once.
void local_store::reclaim_space() {
  if (closing_ || core_.read_only || !core_.space->begin_rewriting()) return;
  expected<void> done;
  do {
    std::shared_lock lock{core_.disk_mutex};
    if (core_.disk != nullptr) done = core_.disk->rewrite(stop_rewriting_);
  } while (!done && done.error().code == errc::no_space && core_.space->release_spare());
  if (!done) spdlog::debug("store: {}", done.error().message);
  core_.space->end_rewriting(done.has_value());
  core_.space->check_disk();
  check_disk();
}

// Lets writers continue that waited for a cut of history, once the tables are merged too. Waits for
// a bounded time: a slow merge must not stop the store.
void local_store::catch_up() {
  const auto until = std::chrono::steady_clock::now() + defaults::catch_up_limit;
  while (!core_.read_only && is_behind() && std::chrono::steady_clock::now() < until) {
    std::unique_lock lock{maintenance_mutex_};
    if (maintenance_wanted_.wait_for(lock, defaults::catch_up_check_period,
                                     [this] { return closing_.load(); }))
      break;
  }
  queue_.hold(false);
}

// RocksDB's own threads may have found the disk full although no write has failed; they stop until
// the engine is reopened.
void local_store::check_disk() {
  const auto is_full = [this] {
    const auto healthy = core_.disk == nullptr ? expected<void>{} : core_.disk->health();
    return !healthy && healthy.error().code == errc::no_space;
  };
  std::shared_lock lock{core_.disk_mutex};
  if (core_.read_only || !is_full()) return;
  queue_.post([this, is_full] {
    if (!failure_ && is_full()) enter_read_only(core_.disk->health().error());
  });
}

expected<void> local_store::compact(revision up_to) {
  if (const revision current = core_.root.load()->at(); up_to > current)
    return fail(errc::future_revision,
                fmt::format("cannot compact to revision {}: the newest is {}", up_to, current));
  return drop_history(up_to);
}

expected<void> local_store::drop_history(revision up_to) {
  std::lock_guard one_at_a_time{compaction_mutex_};
  if (up_to <= core_.compacted) return {};
  const auto with_disk = [this](auto work) -> expected<void> {
    std::shared_lock lock{core_.disk_mutex};
    if (core_.disk == nullptr)
      return fail(errc::read_only, "the disk has failed and is being opened again");
    return work(*core_.disk);
  };
  auto announced = with_disk([&](engine& disk) {
    auto rows = disk.make_batch();
    rows->put(table::meta, meta_key::horizon, std::to_string(up_to));
    return disk.write(*rows, durability::buffered);
  });
  if (!announced) return announced;
  committer::horizon_change horizon{};
  between_batches([&] { horizon = committer_.raise_horizon(up_to); });

  while (core_.compacted < up_to) {
    if (closing_) return {};
    auto done = with_disk([&](engine& disk) -> expected<void> {
      const revision from = core_.compacted;
      auto step = plan_compaction(disk, *horizon.seen, {from, up_to, horizon.before});
      if (!step) return fail(std::move(step.error()));
      core_.compacted = step->end;
      auto written = disk.write(*step->rows, durability::buffered);
      if (written)
        core_.log_bytes -= std::min<std::uint64_t>(step->bytes, core_.log_bytes);
      else
        core_.compacted = from;
      return written;
    });
    if (!done) return done;
  }
  return with_disk([&](engine& disk) {
    auto synced = disk.sync();
    return synced ? disk.reclaim(table::changes, change_key({up_to, 0})) : synced;
  });
}

}  // namespace troupe::persistence
