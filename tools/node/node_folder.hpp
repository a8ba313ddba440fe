// A folder of a node, locked against a second node for as long as this object exists.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "runtime/unique_fd.hpp"

namespace troupe::tools {

// Where a joined machine keeps its credentials; it exists from the first attempt to join.
inline std::filesystem::path join_dir(const std::filesystem::path& data_dir) {
  return data_dir / "join";
}

class node_folder {
 public:
  // Makes the folder if it is missing, and locks a file in it. The error is one line that names the
  // folder and the remedy. The system releases the lock when the process ends, for whatever
  // reason.
  using lock_result = tl::expected<node_folder, std::string>;
  // The data dir: mode 0700, node.lock. `flag`: the one that names it.
  static lock_result lock_data_dir(const std::filesystem::path& folder,
                                   const char* flag = "--data-dir");
  // The kubelet's root dir: mode 0750, kubelet.lock. A second kubelet would take the pods of the
  // first for orphans and end them.
  static lock_result lock_root_dir(const std::filesystem::path& folder);

  // The process that holds the lock of a data dir now; nullopt if it is free.
  static std::optional<int> holder(const std::filesystem::path& data_dir);

 private:
  explicit node_folder(int lock) : lock_{lock} {}

  struct role;
  static lock_result take(const std::filesystem::path& folder, const role& as);

  runtime::unique_fd lock_;
};

// The root dir of a control plane's kubelet, for `troupe leave`: DATA-DIR/root-dir, unless it is
// the default, DATA-DIR/kubelet.
tl::expected<void, std::string> save_root_dir(const std::filesystem::path& data_dir,
                                              const std::filesystem::path& root_dir);
std::filesystem::path saved_root_dir(const std::filesystem::path& data_dir);

}  // namespace troupe::tools
