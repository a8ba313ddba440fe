// A file system of a few megabytes in a mount namespace of the main thread: nobody else sees it,
// and it goes with the process. Other threads reach it by /proc. Needs root.
#pragma once

#include <cstdint>
#include <string>

namespace troupe::persistence::testing {

// What the files of a directory take on the disk, by their blocks: du(1).
std::uint64_t disk_usage(const std::string& directory);

class small_disk {
 public:
  // False, with a line on stdout that says so, where nothing may be mounted.
  static bool possible();

  explicit small_disk(std::uint64_t size_bytes);
  ~small_disk();
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;

  std::string path(const std::string& below = "store") const { return root_ + "/" + below; }
  std::uint64_t available_bytes() const;
  // Somebody else's file, which takes all that is left, or all but so many bytes.
  void fill(std::uint64_t but_bytes = 0) const;
  void empty() const;

 private:
  std::string folder_;  // where it is mounted
  std::string root_;    // where all threads find it
};

}  // namespace troupe::persistence::testing
