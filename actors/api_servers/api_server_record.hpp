// The records that control planes publish about themselves, and their encoding. Each control plane
// renews its own record, the Lease kube-system/apiserver-NAME (kubernetes: the identity leases of
// API servers). The live records are also listed in an annotation of the Endpoints
// default/kubernetes, which every node may watch. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/messages.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "persistence/tree/snapshot.hpp"

namespace troupe::actors {

inline constexpr const char* api_server_namespace = "kube-system";
inline constexpr std::string_view api_servers_annotation = "troupe.dev/control-planes";

struct api_server_record {
  std::string name;      // of its node
  std::string api;       // HOST:PORT of its API; HOST is a literal address
  std::string link;      // HOST:PORT of the nodes' link; empty: not listening yet
  std::string key_hash;  // "sha256:…" of the key of its serving certificate

  friend bool operator==(const api_server_record&, const api_server_record&) = default;
};
using api_server_records = std::vector<api_server_record>;

std::string api_server_lease(std::string_view name);
void complete(api::coordination::v1::Lease& lease, const api_server_record& of,
              runtime::wall_time now);
// Nothing if the Lease is not a record.
std::optional<api_server_record> read_api_server(const api::coordination::v1::Lease& lease);

// The format of the annotation: NAME/API/LINK/HASH, separated by commas. Reading skips malformed
// entries and stops after `api_server_defaults::api_servers`.
std::string write_api_servers(const api_server_records& records);
api_server_records read_api_servers(std::string_view text);

// The records of a state, by name; at most `api_server_defaults::api_servers`.
api_server_records read_api_servers(const persistence::snapshot& state);

// Tracks which control planes renew their records. Time is counted in own renewals that were
// committed, not by a clock: a process that was suspended, or cannot reach the store, declares
// nobody dead.
class api_server_watch {
 public:
  struct found {
    api_server_records live;  // by name
    // The names of the others, and the revision of the record that was judged.
    std::map<std::string, persistence::revision> dead;
  };
  // The own record counts as live.
  found check(const persistence::snapshot& state, std::string_view own);

 private:
  struct seen {
    persistence::revision at = 0;
    int missed = 0;
  };
  std::map<std::string, seen, std::less<>> seen_;
};

}  // namespace troupe::actors
