// Questions of autoscalers to the servers of metrics APIs: custom.metrics.k8s.io,
// external.metrics.k8s.io, and metrics.k8s.io where another server serves it. Who asks these
// servers is an actor of the API server. Values.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace troupe::actors {

// The kind of that actor, which is its name as well.
inline constexpr const char* metrics_desk_kind = "metrics-desk";

// One metric. Selectors are texts, empty for none.
struct metric_query {
  enum class source : std::uint8_t {
    pods,      // of each pod that `pods` selects
    object,    // of `object`
    external,  // from outside the cluster
    usage,     // what the containers of these pods use; without `name`
  };
  source of = source::pods;
  std::string ns = {};
  std::string name = {};
  std::string selector = {};  // of the metric's labels
  std::string pods = {};
  std::string resource = {};  // of the object: "ingresses.networking.k8s.io"
  std::string object = {};
  bool namespaced = true;  // the object is
};

// Figures are as the server gives them; those of `usage` have a container and two amounts.
struct metric_value {
  std::string object = {};  // the name of what it is about; of an external metric empty
  std::int64_t milli = 0;
  std::int64_t at = 0, window = 0;  // seconds, of the epoch the first
  std::string container = {};
  std::uint64_t cpu_nano = 0, memory_bytes = 0;
};

// At least one value; an error is what the server says, and empty where there is no server.
using metric_values = tl::expected<std::vector<metric_value>, std::string>;

// Answered by `metrics_told`.
struct ask_metrics {
  std::vector<metric_query> queries;
};

struct metrics_told {
  std::vector<metric_values> answers;  // in the order of the queries
};

}  // namespace troupe::actors
