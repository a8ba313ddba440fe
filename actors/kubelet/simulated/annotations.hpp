// The annotations by which pods and nodes of a simulation behave. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/schema/meta_object.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors::simulated {

inline constexpr std::string_view annotation_prefix = "simulation.troupe.dev/";

// The value of that prefix with `name`; nothing where there is none.
std::optional<std::string_view> annotation(const api::meta::v1::ObjectMeta& of,
                                           std::string_view name);
// There is one of them.
bool is_annotated(const api::meta::v1::ObjectMeta& of);

// The value as a time, at most 68 years, or as a whole number. Nothing where it is none.
std::optional<runtime::duration> duration_in(const api::meta::v1::ObjectMeta& of,
                                             std::string_view name);
std::optional<std::int32_t> number_in(const api::meta::v1::ObjectMeta& of, std::string_view name);

// By up to which part of it each time is longer, 0 where nothing sensible is said.
double jitter_in(const api::meta::v1::ObjectMeta& of);
// From 0 to 1, the same for the same object, purpose and run: uids come from the seed of a
// simulation.
double share_of(const api::meta::v1::ObjectMeta& of, std::string_view purpose, std::int32_t run);
// `delay`, longer by that part of it.
runtime::duration longer(runtime::duration delay, double part);

}  // namespace troupe::actors::simulated
