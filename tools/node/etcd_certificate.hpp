// The certificate with which a control plane calls etcd. It is read at the start, and nobody here
// can renew it: the user is warned before it ends.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace troupe::tools {

// The warning, if less than `defaults::etcd_certificate_part` of its life is left. Nullopt also for
// a text that is no certificate. `file`: its origin, for the text.
std::optional<std::string> certificate_warning(const std::string& certificate,
                                               const std::filesystem::path& file,
                                               std::chrono::system_clock::time_point now);

class etcd_certificate {
 public:
  // Reads the file. An empty path, or one that cannot be read: never warns.
  explicit etcd_certificate(std::filesystem::path file);

  void warn() const;

 private:
  const std::filesystem::path file_;
  const std::string text_;
};

}  // namespace troupe::tools
