// Formats texts that may contain external data for messages. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::runtime::link {

// At most 400 bytes, with unprintable characters replaced by spaces.
std::string one_line(std::string_view text);

// "10.0.0.1:6444", "[fd00::1]:6444".
std::string host_and_port(const std::string& host, std::uint16_t port);
// The same from gRPC's format, "ipv4:10.0.0.1:6444" or "ipv6:%5Bfd00::1%5D:6444".
std::string address_of(std::string_view uri);

// Converts gRPC's error of a failed call to a message with the address and the problem.
std::string explained(const std::string& grpc_error);

}  // namespace troupe::runtime::link
