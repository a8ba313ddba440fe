// The current addresses of this machine, from the kernel.
#pragma once

#include <string>
#include <vector>

namespace troupe::server {

bool is_wildcard(const std::string& host);  // "0.0.0.0", "::", or empty
bool is_loopback(const std::string& host);  // 127/8, ::1, localhost

// The addresses of all interfaces that are up, each once, without link-local ones (fe80::/10). At
// most `defaults::interface_addresses`.
std::vector<std::string> interface_addresses();

// The address by which other machines most likely reach this one: that of the default route, else
// the first non-loopback address. Empty if there is none.
std::string outward_address();

// The address of the other family on the interface with this address; empty if there is none, and
// for a loopback address.
std::string second_address(const std::string& address);

// The address by which clients reach a listener at this host: for a wildcard outward_address(),
// else loopback; otherwise the host itself. A literal address.
std::string reachable_address(const std::string& host);

}  // namespace troupe::server
