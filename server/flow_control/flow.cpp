#include "server/flow_control/flow.hpp"

#include "server/access/authentication.hpp"

namespace troupe::server {
namespace {

constexpr std::string_view nodes_group = "system:nodes";

bool is_heartbeat(const request_info& info) noexcept {
  if (!info.is_resource || !info.mutates()) return false;
  return (info.resource == "leases" && info.namespace_name == "kube-node-lease") ||
         (info.resource == "nodes" && info.subresource == "status");
}

}  // namespace

flow_schema flow_schema_of(const request& head) noexcept {
  if (head.user && head.user->in_group(masters_group)) return flow_schema::exempt;
  if (!head.user || head.user->in_group(unauthenticated_group)) return flow_schema::catch_all;
  if (is_heartbeat(head.info) && head.user->in_group(nodes_group))
    return flow_schema::system_node_high;
  return flow_schema::global_default;
}

std::string_view to_string(flow_schema schema) noexcept {
  switch (schema) {
    case flow_schema::exempt:
      return "exempt";
    case flow_schema::system_node_high:
      return "system-node-high";
    case flow_schema::global_default:
      return "global-default";
    case flow_schema::catch_all:
      break;
  }
  return "catch-all";
}

std::string_view priority_level(flow_schema schema) noexcept {
  switch (schema) {
    case flow_schema::exempt:
      return "exempt";
    case flow_schema::system_node_high:
      return "node-high";
    case flow_schema::global_default:
      return "global-default";
    case flow_schema::catch_all:
      break;
  }
  return "catch-all";
}

std::string_view flow_name(const request& head) noexcept {
  if (head.user && !head.user->in_group(unauthenticated_group)) return head.user->name;
  const std::string_view peer = head.connection ? head.connection->peer : std::string_view{};
  return peer.substr(0, peer.rfind(':'));
}

}  // namespace troupe::server
