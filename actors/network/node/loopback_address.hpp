// An address of this machine on its loopback device, by rtnetlink.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace troupe::actors {

// IPv4, as one of its own (/32). Done also where it is there already.
tl::expected<void, std::string> add_loopback_address(const std::string& address);
// Done also where it is not there.
tl::expected<void, std::string> remove_loopback_address(const std::string& address);

}  // namespace troupe::actors
