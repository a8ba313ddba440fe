// Nodes and events in a table.
#include <array>
#include <set>

#include "api/schema/core_event.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/tables/row_cells.hpp"
#include "api/values/ascii.hpp"
#include "api/values/text_parts.hpp"

namespace troupe::api {
namespace {

using namespace core::v1;

std::string readiness(const Node& node) {
  std::string text = "Unknown";
  for (const auto& condition : node.status().conditions())
    if (condition.type() == "Ready") text = condition.status() == "True" ? "Ready" : "NotReady";
  if (node.spec().unschedulable()) text += ",SchedulingDisabled";
  return text;
}

std::string roles(const Node& node) {
  constexpr std::string_view prefix = "node-role.kubernetes.io/";
  std::set<std::string> found;
  for (const auto& [key, value] : node.metadata().labels()) {
    if (key.starts_with(prefix) && key.size() > prefix.size())
      found.insert(key.substr(prefix.size()));
    else if (key == "kubernetes.io/role" && !value.empty())
      found.insert(value);
  }
  std::string text;
  for (const auto& role : found) {
    if (!text.empty()) text += ',';
    text += role;
  }
  return text;
}

std::string_view address(const Node& node, std::string_view type) {
  for (const auto& one : node.status().addresses())
    if (one.type() == type) return one.address();
  return none_text;
}

std::string source(const Event& event) {
  auto component = event.source().component();
  auto host = event.source().host();
  if (component.empty()) component = event.reporting_component();
  if (host.empty()) host = event.reporting_instance();
  return host.empty() ? component : component + ", " + host;
}

constexpr std::array<table_column, 10> of_nodes = {
    table_column{"Name", "string", "Name of the node."},
    table_column{"Status", "string", "Whether the node is ready, and takes pods."},
    table_column{"Roles", "string", "What the node is for."},
    table_column{"Age", "string", "Time since the node registered."},
    table_column{"Version", "string", "Version of its kubelet."},
    table_column{"Internal-IP", "string", "Address inside the cluster.", 1},
    table_column{"External-IP", "string", "Address outside of it.", 1},
    table_column{"OS-Image", "string", "Its operating system.", 1},
    table_column{"Kernel-Version", "string", "Its kernel.", 1},
    table_column{"Container-Runtime", "string", "What runs its containers.", 1}};

constexpr std::array<table_column, 10> of_events = {
    table_column{"Last Seen", "string", "Time since it was last seen."},
    table_column{"Type", "string", "Normal or Warning."},
    table_column{"Reason", "string", "What happened, in one word."},
    table_column{"Object", "string", "What it happened to."},
    table_column{"Subobject", "string", "The part of the object.", 1},
    table_column{"Source", "string", "Who reported it.", 1},
    table_column{"Message", "string", "What happened."},
    table_column{"First Seen", "string", "Time since it was first seen.", 1},
    table_column{"Count", "integer", "How often it was seen.", 1},
    table_column{"Name", "string", "Name of the event.", 1}};

}  // namespace

const std::span<const table_column> node_columns = of_nodes;
const std::span<const table_column> event_columns = of_events;

void node_cells(row_cells& into, const body& content) {
  const auto& node = static_cast<const Node&>(content);
  const auto& info = node.status().node_info();
  constexpr std::string_view unknown = "<unknown>";
  into.text(node.metadata().name())
      .text(readiness(node))
      .text_or(roles(node), none_text)
      .age(node.metadata())
      .text(info.kubelet_version())
      .text(address(node, "InternalIP"))
      .text(address(node, "ExternalIP"))
      .text_or(info.os_image(), unknown)
      .text_or(info.kernel_version(), unknown)
      .text_or(info.container_runtime_version(), unknown);
}

void event_cells(row_cells& into, const body& content) {
  const auto& event = static_cast<const Event&>(content);
  auto first = event.first_timestamp().seconds();
  if (first == 0) first = event.event_time().seconds();
  auto last = event.last_timestamp().seconds();
  if (last == 0) last = first;
  auto count = event.count() == 0 ? 1 : event.count();
  if (event.has_series()) {
    last = event.series().last_observed_time().seconds();
    count = event.series().count();
  }
  const auto& about = event.involved_object();
  into.age(last)
      .text(event.type())
      .text(event.reason())
      .text(about.name().empty() ? to_lower(about.kind())
                                 : to_lower(about.kind()) + "/" + about.name())
      .text(about.field_path())
      .text(source(event))
      .text(trimmed(event.message(), " \t\r\n"))
      .age(first)
      .number(count)
      .text(event.metadata().name());
}

}  // namespace troupe::api
