#include "runtime/detail/roster.hpp"

#include <algorithm>

#include "runtime/detail/host.hpp"

namespace troupe::runtime {

namespace {

// Rows are made of memory that nobody has touched for a while, so it is asked for some rows ahead.
constexpr std::size_t rows_ahead = 8;

std::size_t hash_of(std::string_view name) noexcept {
  return std::hash<std::string_view>{}(name);
}

}  // namespace

void roster::enter(host& who) {
  auto& shard = shard_of(who.id());
  std::lock_guard lock{shard.mutex};
  shard.present.push_back({who.id(), hash_of(who.options().name), &who});
  size_.fetch_add(1, std::memory_order_relaxed);
}

void roster::leave(host& who) {
  {
    auto& shard = shard_of(who.id());
    std::lock_guard lock{shard.mutex};
    const auto found = std::find_if(shard.present.begin(), shard.present.end(),
                                    [&](const entry& each) { return each.who == &who; });
    *found = shard.present.back();
    shard.present.pop_back();
    size_.fetch_sub(1, std::memory_order_relaxed);
  }
  {
    actor_info last;
    who.row(origin_.nanoseconds_per_tick(), last);
    std::lock_guard lock{departed_mutex_};
    auto& totals = departed_[last.kind];
    ++totals.ended;
    totals.received += last.received;
    totals.handled += last.handled;
    totals.restarts += last.restarts;
    totals.busy += last.busy;
  }
  who.release();
}

std::map<std::string, kind_totals> roster::departed() const {
  std::lock_guard lock{departed_mutex_};
  return departed_;
}

void roster::each(const std::function<void(const actor_info&)>& visit) const {
  const auto scale = origin_.nanoseconds_per_tick();
  std::vector<actor_ref> present;
  actor_info info;
  for (const auto& shard : shards_) {
    {
      std::lock_guard lock{shard.mutex};
      const auto count = shard.present.size();
      present.reserve(count);
      for (std::size_t i = 0; i < count; ++i) {
        if (i + rows_ahead < count) shard.present[i + rows_ahead].who->expect_reference();
        present.push_back(access::share(*shard.present[i].who));
      }
    }
    for (std::size_t i = 0; i < present.size(); ++i) {
      if (i + 2 * rows_ahead < present.size())
        access::host_of(present[i + 2 * rows_ahead])->expect_row();
      if (i + rows_ahead < present.size()) access::host_of(present[i + rows_ahead])->expect_name();
      access::host_of(present[i])->row(scale, info);
      visit(info);
    }
    present.clear();
  }
}

actor_ref roster::reference(std::uint64_t id) const {
  const auto& shard = shard_of(id);
  std::lock_guard lock{shard.mutex};
  for (const auto& each : shard.present)
    if (each.id == id) return access::share(*each.who);
  return {};
}

std::optional<actor_detail> roster::detail(std::uint64_t id) const {
  const auto found = reference(id);
  if (!found) return std::nullopt;
  actor_detail made;
  access::host_of(found)->detail(origin_.nanoseconds_per_tick(), made);
  return made;
}

std::optional<actor_info> roster::find(std::uint64_t id) const {
  const auto found = reference(id);
  if (!found) return std::nullopt;
  actor_info info;
  access::host_of(found)->row(origin_.nanoseconds_per_tick(), info);
  return info;
}

std::vector<actor_ref> roster::called(std::string_view name) const {
  const auto hash = hash_of(name);
  std::vector<actor_ref> found;
  for (const auto& shard : shards_) {
    std::lock_guard lock{shard.mutex};
    for (const auto& each : shard.present)
      if (each.name_hash == hash && each.who->options().name == name)
        found.push_back(access::share(*each.who));
  }
  return found;
}

actor_ref roster::find(std::string_view kind, std::string_view name) const {
  for (auto& each : called(name))
    if (access::host_of(each)->options().kind == kind) return std::move(each);
  return {};
}

}  // namespace troupe::runtime
