// The skew of a program's clock, in a file that the program has mapped (skewed_clock.cpp): a test
// steps the clock while the program runs.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stdexcept>

namespace troupe::test {

// The content of the file.
struct clock_page {
  std::atomic<std::int64_t> skew_s{0};
  // Of the last step: the skew before it, and its time by the monotonic clock.
  std::atomic<std::int64_t> before_s{0}, stepped_ms{0};
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// Null if the file cannot be mapped.
inline clock_page* map_clock(const char* path, bool writes) {
  const int file = ::open(path, (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const page = ::mmap(nullptr, sizeof(clock_page), PROT_READ | (writes ? PROT_WRITE : 0),
                            MAP_SHARED, file, 0);
  ::close(file);
  return page == MAP_FAILED ? nullptr : static_cast<clock_page*>(page);
}

class clock_file {
 public:
  // Makes the file; the skew is 0. Throws std::runtime_error if that fails.
  explicit clock_file(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0 && ::ftruncate(file, sizeof(clock_page)) == 0)
      page_ = map_clock(path.c_str(), true);
    if (file >= 0) ::close(file);
    if (page_ == nullptr) throw std::runtime_error{"no clock in " + path.string()};
  }
  ~clock_file() { ::munmap(page_, sizeof(clock_page)); }
  clock_file(const clock_file&) = delete;
  clock_file& operator=(const clock_file&) = delete;

  void skew(std::chrono::seconds skew) {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    page_->before_s = page_->skew_s.load();
    page_->stepped_ms = std::int64_t{now.tv_sec} * 1'000 + now.tv_nsec / 1'000'000;
    page_->skew_s = skew.count();
  }

 private:
  clock_page* page_ = nullptr;
};

}  // namespace troupe::test
