// What client and members of etcd show each other: PEM texts.
#pragma once

#include <string>

#include "persistence/etcd/etcd.hpp"

namespace troupe::persistence::etcd {

// Empty: none, or for `authorities` those of gRPC.
struct credentials {
  std::string authorities, certificate, key;

  bool operator==(const credentials&) const = default;
};

// The files that are named, without a check. Fails with `io` for one that cannot be read.
expected<credentials> read_files(const etcd_options& options);
// Fails with `invalid` unless each file has a certificate, and the key is that of the first one.
expected<void> check(const credentials& shown, const etcd_options& files);
// Both.
expected<credentials> read_credentials(const etcd_options& options);

}  // namespace troupe::persistence::etcd
