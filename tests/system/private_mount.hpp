// A file system of our own over a folder, in a mount namespace that a helper process keeps: nobody
// else sees it, and it goes with the helper. Needs root or unprivileged user namespaces.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

namespace troupe::test {

class private_mount {
 public:
  // False, with a line on stdout that says so, where this machine does not let us.
  static bool possible();

  // `arguments` of mount(8) for the folder, which is made: "-t tmpfs -o size=8m none".
  // Throws std::runtime_error when it cannot be mounted.
  private_mount(std::filesystem::path folder, const std::string& arguments);
  ~private_mount();
  private_mount(const private_mount&) = delete;
  private_mount& operator=(const private_mount&) = delete;

  // Where other processes find it.
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::FILE* helper_ = nullptr;
  std::filesystem::path path_;
};

}  // namespace troupe::test
