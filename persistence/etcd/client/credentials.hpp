// What client and members of etcd show each other: PEM texts.
#pragma once

#include <chrono>
#include <string>

#include "persistence/etcd/etcd.hpp"

namespace troupe::persistence::etcd {

// Empty: none, or for `authorities` those of gRPC.
struct credentials {
  std::string authorities, certificate, key;

  bool operator==(const credentials&) const = default;
};

// The files that are named, without a check. Fails with `io` for one that cannot be read, is no
// regular file, or has more than a megabyte.
expected<credentials> read_files(const etcd_options& options);
// Fails with `invalid` unless each file has a certificate, and the key is that of the first one.
expected<void> check(const credentials& shown, const etcd_options& files);
// Both.
expected<credentials> read_credentials(const etcd_options& options);

// The warning of its end if less than a fifth of the certificate's life is left; else empty. That
// is less than at its renewal by `troupe etcd` (server::defaults::renew_below). `file`: its origin.
std::string warning_of_end(const std::string& certificate, const std::string& file,
                           std::chrono::system_clock::time_point now);

}  // namespace troupe::persistence::etcd
