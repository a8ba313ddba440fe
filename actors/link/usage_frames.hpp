// Converts resource usage between message and frame (frames.proto). Pure.
#pragma once

#include <cstdint>

#include "actors/kubelet/runtime/usage.hpp"
#include "actors/link/frames.pb.h"

namespace troupe::actors {

void write_usage_answer(wire::UsageAnswer& out, std::uint64_t ask, const node_usage& usage);

// Untrusted: figures are limited to plausible values (`link_defaults::usage_…`), the problem to one
// short line.
node_usage read_usage_answer(const wire::UsageAnswer& from);

}  // namespace troupe::actors
