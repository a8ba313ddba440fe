// Reserves disk space, so that objects can be deleted even when the disk is full.
//
// The file `RESERVE` in the store's directory occupies a part of the disk. When the disk is full,
// half of the file is freed for the store, repeatedly if needed; it is enlarged again when there is
// room. With little or no free space the store is "low on space": staging refuses to create or
// enlarge objects, and history is cut to a small part. That state ends only when clearly more space
// is free, so that it does not flap.
//
// Thread safe. For a store in memory it does nothing.
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

class space_manager {
 public:
  // Measures the disk if there is a directory. If the disk is almost full, frees half of the
  // reserve at once: the store and the rest of the program write files when they start.
  explicit space_manager(const store_options& options);

  bool low() const noexcept { return low_.load(std::memory_order_relaxed); }
  // The limit of the change log in bytes at this moment.
  std::uint64_t history_bytes() const noexcept;
  std::uint64_t free_bytes() const;

  // -- called by commit threads -------------------------------------------------------------------
  //
  // Counts bytes written to disk. From time to time it measures the disk.
  void count_written(std::size_t size_bytes);
  // While space is low: checks a change to `after_bytes` (0: removed). `no_space` if the object
  // would grow; `overloaded` if history, which keeps the previous state, must be cut first.
  expected<void> admit(const std::string& key, std::size_t before_bytes, std::size_t after_bytes);
  // True when admitted changes have to wait until history is cut.
  bool is_truncation_due() const noexcept;
  // True when space has just become low, or admitted changes wait for a cut of history.
  bool is_truncation_needed() const noexcept {
    return low() && (truncation_needed_ || is_truncation_due());
  }

  // -- called by maintenance and recovery ---------------------------------------------------------
  //
  // Called when the disk was full: frees half of the reserve. From then on space is low. Returns
  // false if no reserve is left.
  bool release_half();
  // Frees half of the reserve too, but keeps a part of it for the next full disk.
  bool release_spare();
  // Updates low(), and restores the reserve if there is room for it.
  void check_disk();
  // Called after history was cut and its space was freed.
  void history_truncated() noexcept {
    admitted_bytes_ = 0;
    truncation_needed_ = false;
  }
  // While space is low: returns whether enough was removed to make rewriting the tables worth it.
  // One thread calls it, rewrites the tables and reports the result with end_rewriting().
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
  std::atomic<std::uint64_t> unseen_bytes_{0};  // written since the disk was last measured
  std::atomic<std::uint64_t> seen_free_bytes_{0};
  std::atomic<bool> truncation_needed_{false};
  std::atomic<std::int64_t> grown_bytes_{0};
  std::atomic<std::uint64_t> admitted_bytes_{0};  // since history was cut
  std::atomic<std::uint64_t> removed_bytes_{0};   // since tables were rewritten
  std::chrono::steady_clock::time_point rewritten_{};
  std::mutex reserve_mutex_;
};

}  // namespace troupe::persistence
