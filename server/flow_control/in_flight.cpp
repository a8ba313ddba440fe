#include "server/flow_control/in_flight.hpp"

#include <atomic>

#include "server/defaults.hpp"
#include "server/flow_control/flow.hpp"
#include "server/flow_control/key_counts.hpp"

namespace troupe::server {
namespace {

struct places {
  std::atomic<std::size_t> now{0};
  std::size_t limit = 0;

  // Returns how many seats were free; 0: none, and none is taken.
  std::size_t take() noexcept {
    const auto before = now.fetch_add(1, std::memory_order_relaxed);
    if (before < limit) return limit - before;
    give_back();
    return 0;
  }
  void give_back() noexcept { now.fetch_sub(1, std::memory_order_relaxed); }
};

}  // namespace

struct in_flight::pool {
  explicit pool(std::size_t limit) {
    masters.limit = limit / defaults::masters_part;
    nodes.limit = limit / defaults::nodes_part;
    shared.limit = limit - masters.limit - nodes.limit;
  }

  std::size_t taken() const noexcept { return shared.now + masters.now + nodes.now; }

  places shared, masters, nodes;
  key_counts users;  // of the shared seats, except those of masters
};

namespace {

template <class Pool>
std::shared_ptr<void> place_of(const std::shared_ptr<Pool>& owner, places& group) {
  if (group.take() == 0) return nullptr;
  return {owner.get(), [owner, &group](void*) { group.give_back(); }};
}

template <class Pool>
std::shared_ptr<void> shared_place(const std::shared_ptr<Pool>& owner, std::uint64_t user) {
  const auto free = owner->shared.take();
  if (free == 0) return nullptr;
  if (owner->users.of(user) >= free) {
    owner->shared.give_back();
    return nullptr;
  }
  owner->users.add(user, 1);
  return {owner.get(), [owner, user](void*) {
            owner->users.subtract(user, 1);
            owner->shared.give_back();
          }};
}

}  // namespace

in_flight::in_flight(std::size_t reads, std::size_t writes)
    : reads_{std::make_shared<pool>(reads)}, writes_{std::make_shared<pool>(writes)} {}

std::shared_ptr<void> in_flight::enter(const request& request) const {
  const auto& from = request.info.mutates() ? writes_ : reads_;
  const auto schema = flow_schema_of(request);
  if (schema == flow_schema::exempt) {
    auto place = place_of(from, from->shared);
    return place ? place : place_of(from, from->masters);
  }
  auto place = shared_place(from, key_counts::key_of(flow_name(request)));
  if (!place && schema == flow_schema::system_node_high) return place_of(from, from->nodes);
  return place;
}

std::size_t in_flight::reads() const noexcept {
  return reads_->taken();
}
std::size_t in_flight::writes() const noexcept {
  return writes_->taken();
}

}  // namespace troupe::server
