// The kubectls of this machine, and a terminal to use one of them at.
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

// Of the versions that begin with `prefix`, as tools/kubectls finds them; oldest first, one of
// those that differ in their last number only.
std::vector<kubectl> kubectls(const std::string& prefix = {});

// A shell in a folder of its own, where `kubectl` is that one and talks to one cluster.
class terminal {
 public:
  terminal(const kubectl& with, std::filesystem::path folder,
           const std::filesystem::path& kubeconfig);

  // What the command prints on stdout and stderr; it is ended after a minute.
  process_result run(const std::string& command) const;
  const std::filesystem::path& folder() const noexcept { return folder_; }

 private:
  const std::filesystem::path folder_;
};

void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace troupe::test
