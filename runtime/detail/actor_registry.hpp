// The registry of live cells behind `directory`: adding and removing takes one short shard lock.
//
// Ids are consecutive, so shards have equal sizes, and an id is found by scanning a few hundred
// adjacent entries; a name by its hash. The registry owns one reference to each cell. Readers take
// references under the lock of one shard at a time and build the rows afterwards, so that they
// block nobody.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "runtime/detail/ticks.hpp"
#include "runtime/directory.hpp"
#include "runtime/fwd.hpp"
#include "runtime/observation.hpp"

namespace troupe::runtime {

class actor_cell;

class actor_registry final : public directory {
 public:
  // Takes ownership of one reference.
  void enter(actor_cell& cell);
  // Releases it; it may be the last.
  void leave(actor_cell& cell);

  void each(const std::function<void(const actor_info&)>& visit) const override;
  std::optional<actor_info> find(std::uint64_t id) const override;
  actor_ref find(std::string_view kind, std::string_view name) const override;
  std::vector<actor_ref> called(std::string_view name) const override;
  actor_ref reference(std::uint64_t id) const override;
  std::optional<actor_detail> detail(std::uint64_t id) const override;
  std::map<std::string, kind_totals> ended_totals() const override;
  std::size_t size() const override { return size_.load(std::memory_order_relaxed); }

 private:
  struct entry {
    std::uint64_t id = 0;
    std::size_t name_hash = 0;
    actor_cell* cell = nullptr;
  };
  struct shard {
    mutable std::mutex mutex;
    std::vector<entry> entries;  // unordered
  };
  static constexpr std::size_t shards = 256;

  const shard& shard_of(std::uint64_t id) const noexcept { return shards_[id % shards]; }
  shard& shard_of(std::uint64_t id) noexcept { return shards_[id % shards]; }

  std::array<shard, shards> shards_;
  std::atomic<std::size_t> size_{0};
  mutable std::mutex departed_mutex_;
  std::map<std::string, kind_totals> departed_;  // by kind, of which there are few
  tick_origin origin_;
};

}  // namespace troupe::runtime
