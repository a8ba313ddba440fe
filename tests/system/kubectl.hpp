// The kubectls of this machine, and a terminal that uses one of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/programs/shell.hpp"

namespace troupe::test {

struct kubectl {
  std::string version;
  std::string path;
};

// Versions with the prefix `prefix`, as found by tools/kubectls; oldest first, one of
// those that differ only in their last number.
std::vector<kubectl> kubectls(const std::string& prefix = {});

// A shell in a folder of its own, where `kubectl` is that version and uses one cluster.
class terminal {
 public:
  terminal(const kubectl& with, std::filesystem::path folder,
           const std::filesystem::path& kubeconfig);

  // The command's output on stdout and stderr; it is ended after three minutes.
  process_result run(const std::string& command) const;
  const std::filesystem::path& folder() const noexcept { return folder_; }

 private:
  const std::filesystem::path folder_;
};

void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace troupe::test
