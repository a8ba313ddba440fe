// Which other objects a pod refers to: what its kubelet reads, and what its node may read. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// A token that projected volumes of a pod ask for.
struct projected_token {
  std::string audience;  // empty: the API server
  std::int64_t expiration_seconds = 0;
  auto operator<=>(const projected_token&) const = default;
};
// Each once.
std::vector<projected_token> projected_tokens(const api::core::v1::Pod& pod);
// What one source asks for.
projected_token wanted_token(const api::core::v1::ServiceAccountTokenProjection& source);

// Keys of the config maps and secrets that a pod refers to, each once.
std::vector<std::string> referenced_keys(const api::core::v1::Pod& pod);

}  // namespace troupe::actors
