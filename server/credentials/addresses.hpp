// The addresses of this machine, as the kernel knows them at this moment.
#pragma once

#include <string>
#include <vector>

namespace troupe::server {

bool is_wildcard(const std::string& host);  // "0.0.0.0", "::", or empty
bool is_loopback(const std::string& host);  // 127/8, ::1, localhost

// Of all interfaces that are up, without those of one link only (fe80::/10). At most
// `defaults::interface_addresses`.
std::vector<std::string> interface_addresses();

// By which other machines most likely reach this one: where its default route begins, else the
// first that is not loopback. Empty: there is none.
std::string outward_address();

// By which what listens at this host is reached: outward_address(), else loopback, for a wildcard,
// otherwise itself. A literal address.
std::string reachable_address(const std::string& host);

}  // namespace troupe::server
