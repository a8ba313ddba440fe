// Sets of Linux capabilities, one bit per number, and the rules for a container's set. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "api/schema/core_container.pb.h"

namespace troupe::actors {

using capability_set = std::uint64_t;

constexpr capability_set capability_bit(int number) {
  return capability_set{1} << number;
}

// Returns the number of "NET_ADMIN" or "CAP_NET_ADMIN", case insensitive.
std::optional<int> capability_number(std::string_view name);

// containerd's set for a container without `capabilities`.
capability_set default_capabilities();

// The capabilities of a container on a machine that has `available`: the default set, or all if ALL
// is added, or none if ALL is dropped; plus the added ones, minus the dropped ones (containerd:
// spec_opts.go, WithCapabilities). Default capabilities that the machine lacks are left out; one
// that is added by name and unavailable is an error, and so is an unknown name.
tl::expected<capability_set, std::string> container_capabilities(
    const api::core::v1::Capabilities& asked, capability_set available);

}  // namespace troupe::actors
