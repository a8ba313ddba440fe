// The folder that a node keeps its data in, held against a second node for as long as this lives.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace troupe::tools {

class data_dir {
 public:
  // Makes the folder with mode 0700 if it is not there and takes its lock, the file node.lock. The
  // error is one line that names the folder and says what to do. The system frees the lock when the
  // process ends, however it ends.
  static tl::expected<data_dir, std::string> take(const std::filesystem::path& folder);

  // The process that holds the folder's lock now; nothing where it is free.
  static std::optional<int> holder(const std::filesystem::path& folder);

  data_dir(data_dir&& other) noexcept;
  data_dir& operator=(data_dir&&) = delete;
  ~data_dir();

 private:
  explicit data_dir(int lock) : lock_(lock) {}

  int lock_;
};

}  // namespace troupe::tools
