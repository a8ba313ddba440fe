// What pods on simulated nodes use, as annotations say: an amount for each container, or a load
// that all pods of a controller share. docs/simulation.md is for users. Pure functions of the state
// and the time.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "actors/kubelet/runtime/usage_questions.hpp"
#include "api/schema/core_node.pb.h"
#include "api/values/quantity.hpp"
#include "persistence/tree/snapshot.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

// An amount that changes with time: "250m", or "0s=1,10m=4,30m=1", the last step that has begun.
class amount_over_time {
 public:
  // Nothing where the text makes no sense.
  static std::optional<amount_over_time> parse(std::string_view text);
  // Nothing before the first step.
  api::quantity at(std::int64_t seconds) const;
  // The amount over the time until then: of processors, nanoseconds that they have worked.
  std::uint64_t total_ns(std::int64_t seconds) const;

 private:
  struct step {
    std::int64_t after_ns;
    api::quantity amount;
  };
  std::vector<step> steps_;  // in order
};

bool is_simulated(const api::core::v1::Node& node);

// Of these nodes, those that have a pod that uses something.
usage_by_node simulated_usage(const persistence::snapshot& state,
                              const std::set<std::string>& nodes, runtime::wall_time now);

}  // namespace troupe::actors
