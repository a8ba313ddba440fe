// The settings of a simulated pod or node: from its annotations, or else from the policy.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "actors/simulation/amount_over_time.hpp"
#include "actors/simulation/policy.hpp"
#include "api/schema/meta_object.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors::simulated {

inline constexpr std::string_view annotation_prefix = "simulation.troupe.dev/";

// The value of the annotation with the prefix and `name`; nothing if it is missing.
std::optional<std::string_view> annotation(const api::meta::v1::ObjectMeta& of,
                                           std::string_view name);

struct delay {
  runtime::duration time{0};  // at most 68 years
  double jitter = 0;          // it is extended by up to this factor
};

// Names are those of annotations without the prefix. An invalid value counts as missing. The object
// and the policy must outlive it.
class settings {
 public:
  settings(subject kind, const api::meta::v1::ObjectMeta& of, const policy* defaults);

  // True if there is any setting.
  bool any() const;
  std::optional<std::string_view> text(std::string_view name) const;
  std::optional<std::int32_t> number(std::string_view name) const;
  // The jitter is taken from the object's annotation, or else from the stage with the time.
  std::optional<delay> time(std::string_view name) const;
  std::optional<amount_over_time> amount(std::string_view name) const;

 private:
  template <class Value, class Read>
  std::optional<Value> read(std::string_view name, const Read& read_text) const;

  const api::meta::v1::ObjectMeta& of_;
  std::vector<const stage*> stages_;
};

// A number from 0 to 1, deterministic for object, purpose and run: uids are generated from the seed
// of a simulation.
double share_of(const api::meta::v1::ObjectMeta& of, std::string_view purpose, std::int32_t run);
// The time extended by `share` of its jitter.
runtime::duration longer(const delay& of, double share);

}  // namespace troupe::actors::simulated
