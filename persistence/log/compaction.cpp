#include "persistence/log/compaction.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "persistence/defaults.hpp"

namespace troupe::persistence {

namespace {

// A state that leaves the log in this step.
struct leaving {
  revision at;
  std::string row;  // the row in `bases`
};

class step_planner {
 public:
  // `bases` may already have states up to `bases_until`.
  step_planner(const engine& disk, const tree_root& seen, revision bases_until)
      : seen_{seen}, bases_until_{bases_until}, rows_{disk.make_batch()} {}

  void drop(change_id id, const change_record& record) {
    const std::string key{record.key};
    if (record.previous != 0 && record.previous <= bases_until_)
      rows_->remove(table::bases, base_key(record.previous, key));
    if (record.type == change_type::removed)
      leaving_.erase(key);
    else
      leaving_.insert_or_assign(
          key, leaving{id.at, state_head(record.created, id.at).append(record.object)});
  }

  compaction_step finish(revision end) && {
    for (const auto& [key, state] : leaving_) {
      const entry* now = seen_.find(key);
      const bool current = now != nullptr && now->modified() == state.at;
      if (!current) rows_->put(table::bases, base_key(state.at, key), state.row);
    }
    rows_->remove_range(table::changes, change_key({0, 0}), change_key({end + 1, 0}));
    rows_->put(table::meta, meta_key::compacted, std::to_string(end));
    return {std::move(rows_), end, 0};
  }

 private:
  const tree_root& seen_;
  revision bases_until_;
  std::unique_ptr<write_batch> rows_;
  std::map<std::string, leaving> leaving_;
};

// The time of the first change after a revision; nullopt if there is none.
expected<std::optional<std::chrono::system_clock::time_point>> time_after(const engine& disk,
                                                                          revision at) {
  std::optional<std::chrono::system_clock::time_point> found;
  auto done = disk.scan(table::changes, change_key({at + 1, 0}),
                        [&](std::string_view, std::string_view value) {
                          if (const auto record = read_change(value)) found = record->time;
                          return !found;
                        });
  if (!done) return fail(std::move(done.error()));
  return found;
}

}  // namespace

expected<compaction_step> plan_compaction(const engine& disk, const tree_root& seen,
                                          compaction_range range) {
  step_planner planner{disk, seen, std::max(range.from, range.early)};
  revision last = range.from, end = range.to;
  std::size_t records = 0, bytes = 0;
  auto done = disk.scan(table::changes, change_key({range.from + 1, 0}),
                        [&](std::string_view key, std::string_view value) {
                          const auto id = read_change_key(key);
                          if (!id) return true;  // dropped with the range
                          if (id->at > range.to) return false;
                          const bool full = records >= defaults::compaction_records ||
                                            bytes >= defaults::compaction_bytes;
                          if (full && id->at != last) {
                            end = last;
                            return false;
                          }
                          last = id->at;
                          ++records;
                          bytes += key.size() + value.size();
                          if (const auto record = read_change(value)) planner.drop(*id, *record);
                          return true;
                        });
  if (!done) return fail(std::move(done.error()));
  auto step = std::move(planner).finish(end);
  step.bytes = bytes;
  return step;
}

namespace {

// The revision at which the log, from its start, has reached this many bytes.
expected<revision> end_of(const engine& disk, const history_range& log, std::uint64_t bytes) {
  revision end = log.compacted;
  std::uint64_t sum = 0;
  auto done = disk.scan(table::changes, change_key({log.compacted + 1, 0}),
                        [&](std::string_view key, std::string_view value) {
                          const auto id = read_change_key(key);
                          if (id && id->at > log.current) return false;
                          sum += key.size() + value.size();
                          if (id) end = id->at;
                          return sum < bytes;
                        });
  if (!done) return fail(std::move(done.error()));
  return end;
}

// Starts one part below the limit, since more is written while history is cut.
expected<revision> target_by_bytes(const engine& disk, std::uint64_t limit,
                                   const history_range& log) {
  const auto part = limit / defaults::maintenance_part;
  const auto bytes = log.bytes + disk.size_bytes(table::bases);
  if (bytes <= limit - part) return log.compacted;
  return end_of(disk, log, bytes - (limit - 2 * part));
}

// The last revision that is old enough and not among the newest ones.
expected<revision> target_by_age(const engine& disk, const history_policy& keep,
                                 const revision_gaps& gaps, const history_range& log,
                                 std::chrono::system_clock::time_point now) {
  const revision slack = keep.revisions / defaults::compaction_slack;
  const revision by_count = gaps.before_last(log.current, keep.revisions);
  if (by_count <= log.compacted + slack) return log.compacted;
  // Bisection: all revisions up to `low` are old enough.
  revision low = log.compacted, high = by_count;
  while (low < high) {
    const revision middle = low + (high - low + 1) / 2;
    auto when = time_after(disk, middle - 1);
    if (!when) return fail(std::move(when.error()));
    if (*when && **when <= now - keep.time)
      low = middle;
    else
      high = middle - 1;
  }
  return low - log.compacted > slack ? low : log.compacted;
}

}  // namespace

expected<revision> compaction_target(const engine& disk, const history_policy& keep,
                                     const revision_gaps& gaps, const history_range& log,
                                     std::chrono::system_clock::time_point now) {
  auto by_bytes = target_by_bytes(disk, keep.limit_bytes, log);
  if (!by_bytes) return by_bytes;
  auto by_age = target_by_age(disk, keep, gaps, log, now);
  if (!by_age) return by_age;
  return std::max(*by_bytes, *by_age);
}

}  // namespace troupe::persistence
