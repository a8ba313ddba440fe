// Keys and their certificates in a directory, as NAME.key and NAME.crt: made when they are missing,
// do not fit together or end soon (`defaults::renew_below`). Not thread safe. Errors are one line.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "server/credentials/x509.hpp"

namespace troupe::server {

// An authority that signs itself, ca.key and ca.crt, into `held`; true when something was written.
// One whose files are there but damaged is never replaced: that would lock every client out.
tl::expected<bool, std::string> keep_authority(const std::filesystem::path& directory,
                                               const std::string& common_name, x509::time_point now,
                                               x509::identity& held);

// As above, of NAME: one that is damaged or ends is made again with another key, since who trusts
// it learns of the new one.
tl::expected<bool, std::string> keep_replaceable_authority(const std::filesystem::path& directory,
                                                           const std::string& name,
                                                           const std::string& common_name,
                                                           x509::time_point now,
                                                           x509::identity& held);

// As above, of a certificate that the authority signs; `leaf.valid` is set here, from `life`.
tl::expected<bool, std::string> keep_identity(const std::filesystem::path& directory,
                                              const std::string& name,
                                              const x509::identity& authority, x509::leaf leaf,
                                              std::chrono::milliseconds life, x509::time_point now,
                                              x509::identity& held);

}  // namespace troupe::server
