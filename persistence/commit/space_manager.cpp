#include "persistence/commit/space_manager.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "persistence/defaults.hpp"

namespace troupe::persistence {

namespace {

constexpr std::uint64_t mebibyte = 1u << 20;

std::string reserve_in(const std::string& directory) {
  return directory + "/RESERVE";
}

}  // namespace

space_manager::space_manager(const store_options& options) : directory_{options.directory} {
  const auto space = measure();
  plan_ = plan_space(space ? space->capacity_bytes : UINT64_MAX, options.log_limit_bytes);
  if (!space) return;
  if (space->free_bytes < plan_.low_bytes) set_low(true, space->free_bytes);
  if (space->free_bytes < plan_.reserve_bytes / defaults::start_part) release_half();
}

std::uint64_t space_manager::history_bytes() const noexcept {
  return low() ? plan_.history_bytes / defaults::short_history_part : plan_.history_bytes;
}

std::uint64_t space_manager::free_bytes() const {
  const auto space = directory_.empty() ? std::nullopt : space_of(directory_);
  return space ? space->free_bytes : 0;
}

std::optional<disk_space> space_manager::measure() {
  auto space = directory_.empty() ? std::nullopt : space_of(directory_);
  if (space) seen_free_bytes_ = space->free_bytes;
  return space;
}

void space_manager::set_low(bool low, std::uint64_t free_bytes) {
  if (low_.exchange(low) == low) return;
  if (!low) {
    spdlog::info("store: {} MiB are free in {}: objects can be created again",
                 free_bytes / mebibyte, directory_);
    return;
  }
  grown_bytes_ = 0;
  truncation_needed_ = true;
  removed_bytes_ = plan_.low_bytes;  // replaced states take space, too
  spdlog::warn(
      "store: the disk is nearly full, {} MiB are free in {}: nothing is created or grows until {} "
      "MiB are; deletes are taken, and history is cut short. Delete objects, or free space on that "
      "file system",
      free_bytes / mebibyte, directory_, plan_.enough_bytes / mebibyte);
}

// -- called by commit threads ---------------------------------------------------------------------

void space_manager::count_written(std::size_t size_bytes) {
  if (directory_.empty()) return;
  if (unseen_bytes_.fetch_add(size_bytes) + size_bytes < plan_.low_bytes / 8) return;
  unseen_bytes_ = 0;
  const auto space = measure();
  if (space && space->free_bytes < plan_.low_bytes) set_low(true, space->free_bytes);
}

expected<void> space_manager::admit(const std::string& key, std::size_t before_bytes,
                                    std::size_t after_bytes) {
  if (after_bytes > 0 && !may_grow(before_bytes, after_bytes))
    return fail(
        errc::no_space,
        fmt::format("the disk of the store is nearly full ({} MiB are free in {}), so {} can be "
                    "neither created nor made larger until {} MiB are free: delete objects, or "
                    "free space on that file system",
                    free_bytes() / mebibyte, directory_, key, plan_.enough_bytes / mebibyte));
  const auto bytes = before_bytes + after_bytes;
  if (bytes > defaults::small_growth_bytes && is_truncation_due())
    return fail(errc::overloaded,
                fmt::format("the disk of the store is nearly full and history is being cut before "
                            "{} can be changed: try again",
                            key));
  admitted_bytes_ += bytes;
  if (after_bytes < before_bytes) removed_bytes_ += before_bytes - after_bytes;
  return {};
}

// Admitted changes go to the write-ahead log and then to a table before the log is dropped.
bool space_manager::is_truncation_due() const noexcept {
  if (!low()) return false;
  const auto room = std::min(plan_.low_bytes, seen_free_bytes_.load());
  return admitted_bytes_ >= room / defaults::admitted_part;
}

// Statuses and times of deletion may add a few bytes, as long as their sum is small too.
bool space_manager::may_grow(std::size_t before_bytes, std::size_t after_bytes) {
  if (before_bytes == 0) return false;
  const auto added =
      static_cast<std::int64_t>(after_bytes) - static_cast<std::int64_t>(before_bytes);
  const auto grown = grown_bytes_ + added;
  if (added > 0 && (added > static_cast<std::int64_t>(defaults::small_growth_bytes) ||
                    grown > static_cast<std::int64_t>(plan_.growth_bytes)))
    return false;
  grown_bytes_ = std::max<std::int64_t>(grown, 0);
  return true;
}

// -- called by maintenance and recovery -----------------------------------------------------------

std::uint64_t space_manager::held_bytes() const {
  struct stat found {};
  return ::stat(reserve_in(directory_).c_str(), &found) == 0
             ? static_cast<std::uint64_t>(found.st_size)
             : 0;
}

bool space_manager::release_half() {
  if (directory_.empty()) return false;
  set_low(true, free_bytes());
  std::lock_guard lock{reserve_mutex_};
  const auto path = reserve_in(directory_);
  const auto now = held_bytes();
  if (now == 0) return false;
  const auto left = now / 2 < plan_.reserve_bytes / 16 ? 0 : now / 2;
  spdlog::info("store: freed {} MiB of the reserve in {}, {} MiB are left", (now - left) / mebibyte,
               path, left / mebibyte);
  const bool given = left > 0 ? ::truncate(path.c_str(), static_cast<off_t>(left)) == 0
                              : ::unlink(path.c_str()) == 0;
  measure();
  return given;
}

bool space_manager::release_spare() {
  return held_bytes() >= plan_.reserve_bytes / defaults::spare_part && release_half();
}

bool space_manager::resize_reserve(std::uint64_t size_bytes) {
  const auto path = reserve_in(directory_);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return false;
  // Not posix_fallocate: on a file system without preallocation it would write all the bytes.
  const bool made = ::fallocate(file, 0, 0, static_cast<off_t>(size_bytes)) == 0;
  ::close(file);
  return made;
}

void space_manager::check_disk() {
  const auto space = measure();
  if (!space) return;
  if (space->free_bytes < plan_.low_bytes) return set_low(true, space->free_bytes);
  std::lock_guard lock{reserve_mutex_};
  const auto now = held_bytes();
  const auto missing = plan_.reserve_bytes - std::min(now, plan_.reserve_bytes);
  if (space->free_bytes < plan_.enough_bytes + missing) return;
  if (missing > 0 && !resize_reserve(plan_.reserve_bytes))
    spdlog::debug("store: cannot allocate the reserve in {}", directory_);
  set_low(false, space->free_bytes - missing);
}

bool space_manager::begin_rewriting() {
  const auto now = std::chrono::steady_clock::now();
  const auto removed = removed_bytes_.load();
  const bool much = removed >= plan_.low_bytes / 2 || is_truncation_due();
  if (!low() || removed == 0 || (!much && now - rewritten_ < defaults::rewrite_period))
    return false;
  removed_bytes_ = 0;
  return true;
}

void space_manager::end_rewriting(bool done) {
  rewritten_ = std::chrono::steady_clock::now();
  if (!done) ++removed_bytes_;  // so that it is retried after a while
}

}  // namespace troupe::persistence
