// Texts for people, from what may come from outside. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::runtime::link {

// At most 400 bytes of it, with a space for whatever is not printable.
std::string one_line(std::string_view text);

// "10.0.0.1:6444", "[fd00::1]:6444".
std::string host_and_port(const std::string& host, std::uint16_t port);
// The same from gRPC's form, "ipv4:10.0.0.1:6444" or "ipv6:%5Bfd00::1%5D:6444".
std::string address_of(std::string_view uri);

// What gRPC says of a call that failed, in words that help: which address, what was wrong with it.
std::string explained(const std::string& grpc_error);

}  // namespace troupe::runtime::link
