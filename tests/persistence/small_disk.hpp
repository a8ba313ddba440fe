// A file system of a few megabytes in a mount namespace of the main thread: invisible to others,
// and removed with the process. Other threads reach it through /proc. Needs root.
#pragma once

#include <cstdint>
#include <string>

namespace troupe::persistence::testing {

// The disk usage of a directory's files in blocks: du(1).
std::uint64_t disk_usage(const std::string& directory);

class small_disk {
 public:
  // False, with a line on stdout, if mounting is not allowed.
  static bool possible();

  explicit small_disk(std::uint64_t size_bytes);
  ~small_disk();
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;

  std::string path(const std::string& below = "store") const { return root_ + "/" + below; }
  std::uint64_t available_bytes() const;
  // Fills the disk with a file, completely or up to this many bytes.
  void fill(std::uint64_t but_bytes = 0) const;
  void empty() const;

 private:
  std::string folder_;  // where it is mounted
  std::string root_;    // the path for all threads
};

}  // namespace troupe::persistence::testing
