#include "actors/kubelet/runtimes/process/streams/attach_packets.hpp"

#include <charconv>
#include <cstdint>
#include <cstdio>

namespace troupe::actors {

std::optional<int> packet_number(std::string_view content) {
  std::uint16_t number = 0;
  const auto* const end = content.data() + content.size();
  const auto [rest, problem] = std::from_chars(content.data(), end, number);
  if (problem != std::errc{} || rest != end) return std::nullopt;
  return number;
}

std::optional<std::pair<int, int>> packet_size(std::string_view content) {
  const auto space = content.find(' ');
  if (space == content.npos) return std::nullopt;
  const auto rows = packet_number(content.substr(0, space));
  const auto columns = packet_number(content.substr(space + 1));
  if (!rows || !columns) return std::nullopt;
  return std::pair{*rows, *columns};
}

sockaddr_un attach_address(int directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/attach", directory);
  return address;
}

}  // namespace troupe::actors
