// The address by which another machine sees this one.
#pragma once

#include <cstdint>
#include <string>

namespace troupe::tools {

// The source address of packets to that host; "127.0.0.1" if there is no route. Sends nothing;
// resolves the name, so it may take a moment.
std::string local_address_towards(const std::string& host, std::uint16_t port);

}  // namespace troupe::tools
