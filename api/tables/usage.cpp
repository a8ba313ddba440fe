// Columns and cells of the usage of nodes and pods (metrics-server: pkg/api/table.go).
#include <array>

#include "api/schema/metrics_v1beta1.pb.h"
#include "api/tables/kind_cells.hpp"
#include "api/values/duration.hpp"
#include "api/values/quantity.hpp"

namespace troupe::api {
namespace {

using metrics::v1beta1::NodeMetrics;
using metrics::v1beta1::PodMetrics;
using amounts = google::protobuf::Map<std::string, resource::Quantity>;

constexpr std::array of_usage = {
    name_column, table_column{"cpu", "string", "Processors, on average.", 0, "quantity"},
    table_column{"memory", "string", "Memory that cannot be reclaimed.", 0, "quantity"},
    table_column{"Window", "string", "The time that the average is of.", 0, "duration"}};

quantity amount_of(const amounts& all, const char* resource) {
  const auto found = all.find(resource);
  if (found == all.end()) return {};
  return quantity::parse(found->second.string()).value_or(quantity{});
}

void write_node(row_cells& into, const body& content) {
  const auto& object = static_cast<const NodeMetrics&>(content);
  into.text(object.metadata().name())
      .text(amount_of(object.usage(), "cpu").str())
      .text(amount_of(object.usage(), "memory").str())
      .text(format_duration(object.window().duration()));
}

void write_pod(row_cells& into, const body& content) {
  const auto& object = static_cast<const PodMetrics&>(content);
  quantity cpu, memory;
  for (const auto& container : object.containers()) {
    cpu += amount_of(container.usage(), "cpu");
    memory += amount_of(container.usage(), "memory");
  }
  into.text(object.metadata().name())
      .text(cpu.str())
      .text(memory.str())
      .text(format_duration(object.window().duration()));
}

}  // namespace

const kind_cells node_usage_cells{of_usage, &write_node};
const kind_cells pod_usage_cells{of_usage, &write_pod};

}  // namespace troupe::api
