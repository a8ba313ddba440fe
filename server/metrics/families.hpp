// Functions that build metric families, and the families of each room.
#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "actors/control_plane/control_plane.hpp"
#include "actors/core/metrics.hpp"
#include "runtime/link/refusal.hpp"
#include "server/connections/http_server.hpp"

namespace troupe::actors {
class link_table;
}

namespace troupe::server {

using families = std::vector<prometheus::MetricFamily>;
using labels = std::vector<std::pair<std::string, std::string>>;

// Appends a family to `out`.
class family {
 public:
  family(families& out, std::string name, std::string help, prometheus::MetricType type);

  family& counter(double value, const labels& with = {});
  family& gauge(double value, const labels& with = {});
  // `counts` has one more element than `bounds` (in seconds).
  family& histogram(const double* bounds, const std::uint64_t* counts, std::size_t size, double sum,
                    const labels& with = {});
  family& histogram(const actors::counted_times& times, const labels& with = {});
  family& summary(std::uint64_t count, const std::vector<std::pair<double, double>>& quantiles,
                  const labels& with = {});

 private:
  prometheus::ClientMetric& add(const labels& with);
  prometheus::MetricFamily& to_;
};

void add_counter(families& out, std::string name, std::string help, double value);
void add_gauge(families& out, std::string name, std::string help, double value);

// -- families, one file each --------------------------------------------------------------------
void add_actor_metrics(families& out, const runtime::directory& actors);
void add_scheduler_metrics(families& out, const actors::scheduler_metrics& from);
// For this machine: the calls of its container runtime, the scripts of its rules.
void add_node_metrics(families& out);
void add_link_metrics(families& out, const actors::link_table& from,
                      const runtime::link::listener_stats& listener);
void add_store_metrics(families& out, const persistence::store& store);
void add_transport_metrics(families& out, const http_stats& from);
void add_process_metrics(families& out);

}  // namespace troupe::server
