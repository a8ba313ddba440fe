// Keeps enough of the disk in reserve that the store can always delete, even on a full disk.
//
// A file in the store's directory (`RESERVE`) holds a part of the disk back. When the disk is full,
// half of what is left of it is given to the store, as often as that takes; when there is room it
// is made again. With little space left (or none) the store is short of space: staging
// refuses what creates or grows objects, and history is cut to a small part. It ends when there is
// clearly more space again, so that the state does not flap.
//
// Thread safe. A store in memory has a keeper that does nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "persistence/engine/disk_space.hpp"
#include "persistence/store_options.hpp"

namespace troupe::persistence {

class space_keeper {
 public:
  // Looks at the disk, where there is a directory; on a disk that is as good as full, gives half of
  // the reserve at once: the store and the rest of the program have files to write at their start.
  explicit space_keeper(const store_options& options);

  bool low() const noexcept { return low_.load(std::memory_order_relaxed); }
  // The bytes that the change log may take now.
  std::uint64_t history_bytes() const noexcept;
  std::uint64_t free_bytes() const;

  // -- called by commit threads
  // -------------------------------------------------------------------------- So many bytes have
  // gone to the disk: looks at it now and then.
  void count_written(std::size_t size_bytes);
  // While space is low: may an object change to this size (0: none)? `no_space` where it would take
  // more of the disk; `overloaded` where history must be cut first, since it keeps what was before.
  expected<void> admit(const std::string& key, std::size_t before_bytes, std::size_t after_bytes);
  // What has been admitted waits for history to be cut.
  bool is_cut_due() const noexcept;
  // Space has become low, or what was admitted waits.
  bool is_cut_wanted() const noexcept { return low() && (cut_wanted_ || is_cut_due()); }

  // -- called by upkeep and recovery
  // -------------------------------------------------------------------- The disk was full. False
  // when there is nothing left to give; space is low from here on.
  bool release_half();
  // Gives as well, but leaves a part for the next full disk.
  bool release_spare();
  // Finds out whether space is low, and makes the reserve where there is room for it.
  void check_disk();
  // And what that freed is the disk's again.
  void history_was_cut() noexcept {
    admitted_bytes_ = 0;
    cut_wanted_ = false;
  }
  // While space is low: has enough been removed for tables to be rewritten? Of one thread, which
  // then does so and says whether it could.
  bool begin_rewriting();
  void end_rewriting(bool done);

 private:
  void set_low(bool low, std::uint64_t free_bytes);
  std::optional<disk_space> measure();
  bool may_grow(std::size_t before_bytes, std::size_t after_bytes);
  std::uint64_t held_bytes() const;
  bool resize_reserve(std::uint64_t size_bytes);

  const std::string directory_;
  space_plan plan_{};
  std::atomic<bool> low_{false};
  std::atomic<std::uint64_t> unseen_bytes_{0};  // written since the disk was looked at
  std::atomic<std::uint64_t> seen_free_bytes_{0};
  std::atomic<bool> cut_wanted_{false};
  std::atomic<std::int64_t> grown_bytes_{0};
  std::atomic<std::uint64_t> admitted_bytes_{0};  // since history was cut
  std::atomic<std::uint64_t> removed_bytes_{0};   // since tables were rewritten
  std::chrono::steady_clock::time_point rewritten_{};
  std::mutex reserve_mutex_;
};

}  // namespace troupe::persistence
