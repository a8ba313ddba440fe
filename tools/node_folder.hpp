// A folder that a node keeps things in, held against a second node for as long as this lives.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace troupe::tools {

class node_folder {
 public:
  // Makes the folder if it is not there and takes its lock, a file in it. The error is one line
  // that names the folder and says what to do. The system frees the lock when the process ends,
  // however it ends.
  using taken = tl::expected<node_folder, std::string>;
  // The data dir: mode 0700, node.lock.
  static taken take_data(const std::filesystem::path& folder);
  // The kubelet's root dir: mode 0750, kubelet.lock. A second kubelet would take the pods of the
  // first for orphans and end them.
  static taken take_root(const std::filesystem::path& folder);

  // The process that holds a data dir's lock now; nothing where it is free.
  static std::optional<int> holder(const std::filesystem::path& data_dir);

  node_folder(node_folder&& other) noexcept;
  node_folder& operator=(node_folder&&) = delete;
  ~node_folder();

 private:
  explicit node_folder(int lock) : lock_(lock) {}

  struct role;
  static taken take(const std::filesystem::path& folder, const role& as);

  int lock_;
};

}  // namespace troupe::tools
