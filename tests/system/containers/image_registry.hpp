// A registry of images for one test: HTTP at 127.0.0.1, read only. It can lie.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/unique_fd.hpp"

namespace troupe::test {

class image_registry {
 public:
  enum class truth {
    honest,
    other_layer,    // one byte of each layer differs
    longer_layer,   // more bytes than the manifest says
    other_manifest  // its digest is not that of its text
  };

  // Unpacks archives below `folder`. Throws std::runtime_error if it cannot listen.
  explicit image_registry(std::filesystem::path folder);
  ~image_registry();

  // Serves the image of an archive (make-image) for every tag of the repository, "library/nginx".
  void add(const std::string& repository, const std::filesystem::path& archive,
           truth how = truth::honest);
  // A containerd that was configured in `folder` (configure) gets all images here, whatever
  // registry they name.
  void replace_all(const std::filesystem::path& folder) const;

 private:
  struct repository {
    std::string manifest;  // its digest, in hexadecimal digits
    std::map<std::string, std::string> blobs;
    truth how = truth::honest;
  };

  void serve();
  std::string response_to(const std::string& head);

  const std::filesystem::path folder_;
  runtime::unique_fd listening_, end_, ended_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::map<std::string, repository> repositories_;
  std::thread thread_;
};

}  // namespace troupe::test
