// The certificate with which a control plane calls etcd. The client of etcd uses a new one when the
// file changes, but nobody here can renew it: the user is warned before it ends.
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

// Logs the warning for what the file contains now; none for an empty path, or a file that cannot be
// read.
void warn_of_certificate_end(const std::filesystem::path& file);

}  // namespace troupe::tools
