// A folder that is removed with the test.
#pragma once

#include <sys/mount.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace troupe::test {

class scratch_folder {
 public:
  scratch_folder() {
    std::string name = std::filesystem::temp_directory_path() / "troupe-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::filesystem::filesystem_error(name, {});
    path_ = name;
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    unmount();
    std::filesystem::remove_all(path_, ignored);
  }

  // Writes a file in the folder.
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  // A program that was killed leaves the mounts of its pods' volumes: they would keep the folder.
  void unmount() const {
    std::vector<std::string> points;
    std::ifstream mounts{"/proc/self/mounts"};
    for (std::string device, point, rest; mounts >> device >> point && std::getline(mounts, rest);)
      if (point.starts_with(path_.string() + "/")) points.push_back(point);
    for (auto each = points.rbegin(); each != points.rend(); ++each)
      ::umount2(each->c_str(), MNT_DETACH);
  }

  std::filesystem::path path_;
};

}  // namespace troupe::test
