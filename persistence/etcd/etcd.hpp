// etcd as the log that several control planes share.
//
// The client is in a module of its own, lib/troupe/etcd.so, loaded with the first use: its library,
// gRPC, would cost every node some megabytes (docs/decisions/0013-link.md).
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "persistence/replica/shared_log.hpp"

namespace troupe::persistence {

struct etcd_options {
  // "https://10.0.0.1:2379"; one of them is used at a time, the next when it fails.
  std::vector<std::string> endpoints;
  // Files in PEM. Empty with http:// alone.
  std::string ca_file = {}, certificate_file = {}, key_file = {};
  // After which nobody waits for the answer of a transaction: two elections of etcd's default.
  std::chrono::milliseconds transaction_limit{2'000};
  std::chrono::milliseconds read_limit{3'000};
};

// Does not wait for etcd. Fails with `invalid` for options that make no sense, `io` for a file that
// cannot be read or a module that cannot be loaded.
expected<std::unique_ptr<shared_log>> open_etcd(const etcd_options& options);

class etcd_members;

// What the module has under the name `troupe_etcd`.
struct etcd_module {
  const char* version;  // of the program that it belongs to
  expected<std::unique_ptr<shared_log>> (*open)(const etcd_options& options);
  expected<std::unique_ptr<etcd_members>> (*open_members)(const etcd_options& options);
};

}  // namespace troupe::persistence
