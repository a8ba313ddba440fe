// Queries of autoscalers to the servers of the metrics APIs: custom.metrics.k8s.io,
// external.metrics.k8s.io, and metrics.k8s.io if another server serves it. An actor of the API
// server sends the HTTP requests. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace troupe::actors {

// The kind and also the name of that actor.
inline constexpr const char* metrics_client_kind = "metrics-client";

// A query for one metric. Selectors are in text form; empty: none.
struct metric_query {
  enum class source : std::uint8_t {
    pods,      // of each pod that `pods` selects
    object,    // of the object `object`
    external,  // from a source outside the cluster
    usage,     // resource usage of the containers of `pods`; `name` is empty
  };
  source of = source::pods;
  std::string ns = {};
  std::string name = {};
  std::string selector = {};  // selects by labels of the metric
  std::string pods = {};
  std::string resource = {};  // of the object: "ingresses.networking.k8s.io"
  std::string object = {};
  bool namespaced = true;  // whether `object` has a namespace
};

// Values as the server reports them. Those of `usage` have a container and two amounts.
struct metric_value {
  std::string object = {};  // the name of the object; empty for an external metric
  std::int64_t milli = 0;
  std::int64_t at = 0, window = 0;  // seconds; `at` since the epoch
  std::string container = {};
  std::uint64_t cpu_nano = 0, memory_bytes = 0;
};

// At least one value, or the server's error message; the message is empty if there is no server.
using metric_values = tl::expected<std::vector<metric_value>, std::string>;

// Answered by `metrics_result`.
struct query_metrics {
  std::vector<metric_query> queries;
};

struct metrics_result {
  std::vector<metric_values> answers;  // in the order of the queries
};

}  // namespace troupe::actors
