#include "runtime/detail/actor_registry.hpp"

#include <algorithm>

#include "runtime/detail/actor_cell.hpp"

namespace troupe::runtime {

namespace {

// The memory of cells is usually not in the cache, so it is prefetched some rows ahead.
constexpr std::size_t rows_ahead = 8;

std::size_t hash_of(std::string_view name) noexcept {
  return std::hash<std::string_view>{}(name);
}

}  // namespace

void actor_registry::enter(actor_cell& cell) {
  auto& shard = shard_of(cell.id());
  std::lock_guard lock{shard.mutex};
  shard.entries.push_back({cell.id(), hash_of(cell.options().name), &cell});
  size_.fetch_add(1, std::memory_order_relaxed);
}

void actor_registry::leave(actor_cell& cell) {
  {
    auto& shard = shard_of(cell.id());
    std::lock_guard lock{shard.mutex};
    const auto found = std::find_if(shard.entries.begin(), shard.entries.end(),
                                    [&](const entry& each) { return each.cell == &cell; });
    *found = shard.entries.back();
    shard.entries.pop_back();
    size_.fetch_sub(1, std::memory_order_relaxed);
  }
  {
    actor_info last;
    cell.row(origin_.nanoseconds_per_tick(), last);
    std::lock_guard lock{departed_mutex_};
    auto& totals = departed_[last.kind];
    ++totals.ended;
    totals.received += last.received;
    totals.handled += last.handled;
    totals.restarts += last.restarts;
    totals.busy += last.busy;
  }
  cell.release();
}

std::map<std::string, kind_totals> actor_registry::ended_totals() const {
  std::lock_guard lock{departed_mutex_};
  return departed_;
}

void actor_registry::each(const std::function<void(const actor_info&)>& visit) const {
  const auto scale = origin_.nanoseconds_per_tick();
  std::vector<actor_ref> refs;
  actor_info info;
  for (const auto& shard : shards_) {
    {
      std::lock_guard lock{shard.mutex};
      const auto count = shard.entries.size();
      refs.reserve(count);
      for (std::size_t i = 0; i < count; ++i) {
        if (i + rows_ahead < count) shard.entries[i + rows_ahead].cell->expect_reference();
        refs.push_back(access::share(*shard.entries[i].cell));
      }
    }
    for (std::size_t i = 0; i < refs.size(); ++i) {
      if (i + 2 * rows_ahead < refs.size()) access::cell_of(refs[i + 2 * rows_ahead])->expect_row();
      if (i + rows_ahead < refs.size()) access::cell_of(refs[i + rows_ahead])->expect_name();
      access::cell_of(refs[i])->row(scale, info);
      visit(info);
    }
    refs.clear();
  }
}

actor_ref actor_registry::reference(std::uint64_t id) const {
  const auto& shard = shard_of(id);
  std::lock_guard lock{shard.mutex};
  for (const auto& each : shard.entries)
    if (each.id == id) return access::share(*each.cell);
  return {};
}

std::optional<actor_detail> actor_registry::detail(std::uint64_t id) const {
  const auto found = reference(id);
  if (!found) return std::nullopt;
  actor_detail made;
  access::cell_of(found)->detail(origin_.nanoseconds_per_tick(), made);
  return made;
}

std::optional<actor_info> actor_registry::find(std::uint64_t id) const {
  const auto found = reference(id);
  if (!found) return std::nullopt;
  actor_info info;
  access::cell_of(found)->row(origin_.nanoseconds_per_tick(), info);
  return info;
}

std::vector<actor_ref> actor_registry::called(std::string_view name) const {
  const auto hash = hash_of(name);
  std::vector<actor_ref> found;
  for (const auto& shard : shards_) {
    std::lock_guard lock{shard.mutex};
    for (const auto& each : shard.entries)
      if (each.name_hash == hash && each.cell->options().name == name)
        found.push_back(access::share(*each.cell));
  }
  return found;
}

actor_ref actor_registry::find(std::string_view kind, std::string_view name) const {
  for (auto& each : called(name))
    if (access::cell_of(each)->options().kind == kind) return std::move(each);
  return {};
}

}  // namespace troupe::runtime
