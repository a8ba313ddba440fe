#include "runtime/detail/roster.hpp"

#include "runtime/detail/host.hpp"

namespace troupe::runtime {

void roster::enter(host& who) {
  auto& shard = shard_of(who.id());
  std::lock_guard lock{shard.mutex};
  auto& links = who.roster_links();
  links.previous = nullptr;
  links.next = shard.first;
  if (shard.first != nullptr) shard.first->roster_links().previous = &who;
  shard.first = &who;
  size_.fetch_add(1, std::memory_order_relaxed);
}

void roster::leave(host& who) {
  {
    auto& shard = shard_of(who.id());
    std::lock_guard lock{shard.mutex};
    auto& links = who.roster_links();
    (links.previous != nullptr ? links.previous->roster_links().next : shard.first) = links.next;
    if (links.next != nullptr) links.next->roster_links().previous = links.previous;
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
      for (auto* h = shard.first; h != nullptr; h = h->roster_links().next) {
        present.push_back(access::share(*h));
      }
    }
    for (const auto& ref : present) {
      access::host_of(ref)->row(scale, info);
      visit(info);
    }
    present.clear();
  }
}

actor_ref roster::reference(std::uint64_t id) const {
  const auto& shard = shard_of(id);
  std::lock_guard lock{shard.mutex};
  for (auto* h = shard.first; h != nullptr; h = h->roster_links().next) {
    if (h->id() == id) return access::share(*h);
  }
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

actor_ref roster::find(std::string_view kind, std::string_view name) const {
  for (const auto& shard : shards_) {
    std::lock_guard lock{shard.mutex};
    for (auto* h = shard.first; h != nullptr; h = h->roster_links().next) {
      if (h->options().name == name && h->options().kind == kind) return access::share(*h);
    }
  }
  return {};
}

}  // namespace troupe::runtime
