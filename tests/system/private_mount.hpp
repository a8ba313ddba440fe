// A private file system over a folder, in a mount namespace that a helper process keeps: invisible
// to others, and removed with the helper. Needs root or unprivileged user namespaces.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

namespace troupe::test {

class private_mount {
 public:
  // False, with a line on stdout, if this machine does not allow it.
  static bool possible();

  // `arguments` of mount(8) for the folder, which is made: "-t tmpfs -o size=8m none".
  // Throws std::runtime_error if it cannot be mounted.
  private_mount(std::filesystem::path folder, const std::string& arguments);
  ~private_mount();
  private_mount(const private_mount&) = delete;
  private_mount& operator=(const private_mount&) = delete;

  // The path for other processes.
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::FILE* helper_ = nullptr;
  std::filesystem::path path_;
};

}  // namespace troupe::test
