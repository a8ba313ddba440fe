// By which address this machine is seen from another one.
#pragma once

#include <cstdint>
#include <string>

namespace troupe::tools {

// The source address of what is sent there; "127.0.0.1" when there is no way. Sends nothing; looks
// the name up, so it may take a moment.
std::string local_address_towards(const std::string& host, std::uint16_t port);

}  // namespace troupe::tools
