// The flow schema of a request, in the terms of upstream's API priority and fairness.
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/http/http.hpp"

namespace troupe::server {

enum class flow_schema : std::uint8_t {
  exempt,            // system:masters
  system_node_high,  // a node's heartbeat: its lease or its status
  global_default,    // all other authenticated users
  catch_all          // unauthenticated users
};
inline constexpr std::size_t flow_schemas = 4;

// For a request that auth_filter has admitted.
flow_schema flow_schema_of(const request& head) noexcept;
// Upstream's names of the schema and of the priority level that it uses.
std::string_view to_string(flow_schema schema) noexcept;
std::string_view priority_level(flow_schema schema) noexcept;

// The flow that a request belongs to: the user's name, or the address (without port) if anonymous.
std::string_view flow_name(const request& head) noexcept;

}  // namespace troupe::server
