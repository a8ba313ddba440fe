// etcd as the shared log of several control planes.
//
// The client is a separate module, lib/troupe/etcd.so, loaded at the first use: its library gRPC
// would cost every node some megabytes (docs/decisions/0013-link.md).
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "persistence/replica/shared_log.hpp"

namespace troupe::persistence {

struct etcd_options {
  // Such as "https://10.0.0.1:2379". One is used at a time; when it fails, the next.
  std::vector<std::string> endpoints;
  // PEM files. Empty if all endpoints use http://. An open log reads them in each `reload_period`;
  // when they have changed, and a member accepts them, new connections use them.
  std::string ca_file = {}, certificate_file = {}, key_file = {};
  // The timeout of a transaction: two elections with etcd's default settings.
  std::chrono::milliseconds transaction_limit{2'000};
  std::chrono::milliseconds read_limit{3'000};
  std::chrono::milliseconds reload_period{60'000};
};

// Does not wait for etcd. Fails with `invalid` for contradictory options or a key that does not
// belong to its certificate, `io` for a file that cannot be read or a module that cannot be loaded.
expected<std::unique_ptr<shared_log>> open_etcd(const etcd_options& options);

class etcd_members;

// The module exports it under the name `troupe_etcd_functions`, and as `troupe_etcd_interface` the
// text of its interface (module.hpp).
struct etcd_module {
  expected<std::unique_ptr<shared_log>> (*open)(const etcd_options& options);
  expected<std::unique_ptr<etcd_members>> (*open_members)(const etcd_options& options);
};

}  // namespace troupe::persistence
