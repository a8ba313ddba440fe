// What the control planes of a cluster tell of themselves, and how it is written. Each has a record
// of its own, the Lease kube-system/apiserver-NAME, which it renews (kubernetes: the identity
// leases of API servers). Those that live stand together in an annotation of the Endpoints
// default/kubernetes, which every node may follow. Pure.
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
  std::string api;       // HOST:PORT of its API, HOST a literal address
  std::string link;      // HOST:PORT where nodes call it; empty: it does not listen yet
  std::string key_hash;  // "sha256:…" of the key of its server's certificate

  friend bool operator==(const api_server_record&, const api_server_record&) = default;
};
using api_server_records = std::vector<api_server_record>;

std::string api_server_lease(std::string_view name);
void complete(api::coordination::v1::Lease& lease, const api_server_record& of,
              runtime::wall_time now);
// Nothing: it is the lease of somebody else.
std::optional<api_server_record> read_api_server(const api::coordination::v1::Lease& lease);

// In the annotation: NAME/API/LINK/HASH, and a comma between two. What is read passes over what
// has not that form, and ends after `api_server_defaults::api_servers`.
std::string write_api_servers(const api_server_records& records);
api_server_records read_api_servers(std::string_view text);

// Which control planes renew their records. Measured in renewals of one's own that have come back
// from the store, not by a clock: who stood still, or has no way to the store, takes nobody for
// dead.
class api_server_watch {
 public:
  struct found {
    api_server_records live;        // by name
    std::vector<std::string> dead;  // names
  };
  // One's own counts as live.
  found look(const persistence::snapshot& state, std::string_view own);

 private:
  struct seen {
    persistence::revision at = 0;
    int missed = 0;
  };
  std::map<std::string, seen, std::less<>> seen_;
};

}  // namespace troupe::actors
