// Conditions and time stamps in statuses, shared by all kinds.
#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/clock.hpp"

namespace troupe::actors {

inline std::int64_t seconds_of(runtime::wall_time at) {
  return std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
}

// The conditions that a node posts about itself.
inline constexpr std::array posted_conditions{"Ready", "MemoryPressure", "DiskPressure",
                                              "PIDPressure"};

// The condition of a node about the network of its pods, and the reasons by which the kubelet knows
// that it has written it: other programs write it too.
inline constexpr const char* network_condition = "NetworkUnavailable";
inline constexpr const char* network_is_up = "PodNetworkIsUp";
inline constexpr const char* network_has_problems = "PodNetworkHasProblems";

struct condition_value {
  std::string_view type;
  std::string_view status;  // "True", "False", "Unknown"
  std::string_view reason = {};
  std::string_view message = {};
};

// Returns null if no condition has this type.
template <class Conditions>
auto* find_condition(Conditions& conditions, std::string_view type) {
  for (auto& each : conditions) {
    if (each.type() == type) return &each;
  }
  return static_cast<decltype(&*conditions.begin())>(nullptr);
}

template <class Conditions>
bool is_condition_true(const Conditions& conditions, std::string_view type) {
  const auto* found = find_condition(conditions, type);
  return found != nullptr && found->status() == "True";
}

// Returns true if the condition changed. lastTransitionTime moves only when the status changes.
// `Condition` is any message with the fields of PodCondition that are used here.
template <class Condition>
bool set_condition(google::protobuf::RepeatedPtrField<Condition>& conditions,
                   const condition_value& value, runtime::wall_time now) {
  auto* found = find_condition(conditions, value.type);
  if (found != nullptr && found->status() == value.status && found->reason() == value.reason &&
      found->message() == value.message) {
    return false;
  }
  if (found == nullptr) {
    found = conditions.Add();
    found->set_type(std::string{value.type});
  }
  if (found->status() != value.status) {
    found->set_status(std::string{value.status});
    found->mutable_last_transition_time()->set_seconds(seconds_of(now));
  }
  found->set_reason(std::string{value.reason});
  found->set_message(std::string{value.message});
  if (value.reason.empty()) found->clear_reason();
  if (value.message.empty()) found->clear_message();
  return true;
}

}  // namespace troupe::actors
