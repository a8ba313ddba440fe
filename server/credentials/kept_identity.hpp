// Keys and certificates in a directory, as NAME.key and NAME.crt: created if they are missing, do
// not match or expire soon (`defaults::renew_below`). Not thread safe. Errors are one line.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "server/credentials/x509.hpp"

namespace troupe::server {

// A self-signed authority, ca.key and ca.crt, loaded into `held`; returns true if a file was
// written. Never replaces damaged files: that would lock every client out.
tl::expected<bool, std::string> keep_authority(const std::filesystem::path& directory,
                                               const std::string& common_name, x509::time_point now,
                                               x509::identity& held);

// The same for NAME, but a damaged or expiring one is replaced with a new key, because its users
// learn the new certificate.
tl::expected<bool, std::string> keep_replaceable_authority(const std::filesystem::path& directory,
                                                           const std::string& name,
                                                           const std::string& common_name,
                                                           x509::time_point now,
                                                           x509::identity& held);

// The same for a certificate signed by the authority; `leaf.valid` is set here, from `life`.
tl::expected<bool, std::string> keep_identity(const std::filesystem::path& directory,
                                              const std::string& name,
                                              const x509::identity& authority, x509::leaf leaf,
                                              std::chrono::milliseconds lifetime,
                                              x509::time_point now, x509::identity& held);

}  // namespace troupe::server
