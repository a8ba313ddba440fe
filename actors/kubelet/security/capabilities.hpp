// Sets of Linux capabilities, one bit for each number, and the set of a container. Pure.
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

// The number of "NET_ADMIN" or "CAP_NET_ADMIN", in any case of letters.
std::optional<int> capability_number(std::string_view name);
// "NET_ADMIN"; empty for a number that has no name.
std::string_view capability_name(int number);

// containerd's set for a container without `capabilities`.
capability_set default_capabilities();

// What a container may hold on a machine that has `available`: the default set, or all for an added
// ALL, or nothing for a dropped ALL; then what is added, then without what is dropped (containerd:
// spec_opts.go, WithCapabilities). Capabilities of the default set that the machine lacks are left
// out; one that is added by name and unavailable is an error, as is an unknown name.
tl::expected<capability_set, std::string> container_capabilities(
    const api::core::v1::Capabilities& asked, capability_set available);

}  // namespace troupe::actors
