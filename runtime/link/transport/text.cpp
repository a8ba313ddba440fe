#include "runtime/link/transport/text.hpp"

#include <algorithm>

namespace troupe::runtime::link {

std::string one_line(std::string_view text) {
  constexpr std::size_t longest = 400;
  std::string line{text.substr(0, longest)};
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, ' ');
  return line;
}

std::string host_and_port(const std::string& host, std::uint16_t port) {
  const bool bare = host.find(':') != std::string::npos && host.front() != '[';
  return (bare ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string address_of(std::string_view uri) {
  if (const auto scheme = uri.substr(0, 5); scheme == "ipv4:" || scheme == "ipv6:")
    uri.remove_prefix(5);
  std::string text;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    const auto escape = uri.substr(i, 3);
    if (escape == "%5B" || escape == "%5b" || escape == "%5D" || escape == "%5d") {
      text += escape[2] == 'B' || escape[2] == 'b' ? '[' : ']';
      i += 2;
    } else {
      text += uri[i];
    }
  }
  return text;
}

std::string explained(const std::string& grpc_error) {
  constexpr std::string_view unreachable = "failed to connect to all addresses; last error: ";
  if (grpc_error.compare(0, unreachable.size(), unreachable) != 0) return one_line(grpc_error);
  // "UNKNOWN: ipv4:10.0.0.1:6444: Peer name plane is not in peer certificate"
  const auto scheme = grpc_error.find(": ip", unreachable.size());
  const auto end = scheme == std::string::npos ? scheme : grpc_error.find(": ", scheme + 2);
  if (end == std::string::npos) return one_line(grpc_error);
  const auto address =
      address_of(std::string_view{grpc_error}.substr(scheme + 2, end - scheme - 2));
  auto reason = grpc_error.substr(end + 2);
  const auto says = [&](const char* part) { return reason.find(part) != std::string::npos; };
  if (constexpr std::string_view head = "Failed to connect to remote host: ";
      reason.compare(0, head.size(), head) == 0)
    reason = reason.substr(head.size());
  else if (says("certificate verify failed"))
    reason = "its certificate is not signed by our CA, or not valid at this time by our clock";
  else if (says("is not in peer certificate"))
    reason = "its certificate is for another name: " + reason;
  else if (reason == "Socket closed" || says("Connection reset"))
    reason = "it closed the connection in the handshake: it may not accept our certificate";
  return one_line("cannot connect to " + address + ": " + reason);
}

}  // namespace troupe::runtime::link
