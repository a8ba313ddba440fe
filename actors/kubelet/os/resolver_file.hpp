// The machine's resolv.conf, read again when it changes: a laptop changes networks. Thread safe.
#pragma once

#include <sys/stat.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

namespace troupe::actors {

class resolver_file {
 public:
  using clock = std::chrono::steady_clock;

  // systemd-resolved keeps the servers that it asks in the second file: the first names its own
  // address only, which is another one in a pod.
  explicit resolver_file(std::filesystem::path file = "/etc/resolv.conf",
                         std::filesystem::path of_resolved = "/run/systemd/resolve/resolv.conf");

  // The first file's text; the second one's if only that has a server that is no loopback address;
  // empty if there is none. Looks at the disk at most every `kubelet_defaults::resolver_check`.
  std::string text(clock::time_point now = clock::now());

 private:
  using state_of_files = std::array<struct ::stat, 2>;

  const std::filesystem::path file_, of_resolved_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::optional<clock::time_point> checked_;
  state_of_files state_{};
  std::string text_;
};

}  // namespace troupe::actors
