// What is said of the behaviour of a pod or node of a simulation: by its annotations, and where
// these say nothing by the policy. Pure.
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

// The value of that prefix with `name`; nothing where there is none.
std::optional<std::string_view> annotation(const api::meta::v1::ObjectMeta& of,
                                           std::string_view name);

struct delay {
  runtime::duration time{0};  // at most 68 years
  double jitter = 0;          // it is longer by up to this share of it
};

// Names are those of the annotations without their prefix. A value that makes no sense counts as
// absent. The object and the policy must outlive it.
class settings {
 public:
  settings(subject kind, const api::meta::v1::ObjectMeta& of, const policy* defaults);

  // Something is said of it.
  bool any() const;
  std::optional<std::string_view> text(std::string_view name) const;
  std::optional<std::int32_t> number(std::string_view name) const;
  // Its jitter is that of the object's annotation, else that of the stage which names the time.
  std::optional<delay> time(std::string_view name) const;
  std::optional<amount_over_time> amount(std::string_view name) const;

 private:
  template <class Value, class Read>
  std::optional<Value> read(std::string_view name, const Read& read_text) const;

  const api::meta::v1::ObjectMeta& of_;
  std::vector<const stage*> stages_;
};

// From 0 to 1, the same for the same object, purpose and run: uids come from the seed of a
// simulation.
double share_of(const api::meta::v1::ObjectMeta& of, std::string_view purpose, std::int32_t run);
// The time, longer by that share of its jitter.
runtime::duration longer(const delay& of, double share);

}  // namespace troupe::actors::simulated
