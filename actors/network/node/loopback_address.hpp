// Adds and removes addresses of this machine's loopback device, by rtnetlink.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace troupe::actors {

// Adds an IPv4 address (/32). Idempotent.
tl::expected<void, std::string> add_loopback_address(const std::string& address);
// Removes the address. Idempotent.
tl::expected<void, std::string> remove_loopback_address(const std::string& address);

}  // namespace troupe::actors
