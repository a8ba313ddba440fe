// The protocol between a container's shim and attached clients, on the socket `attach` in the
// container's directory. It is a packet socket (SOCK_SEQPACKET): a packet is read whole or not at
// all, so no partial packet is buffered. A packet is a letter and its content; numbers are text.
//
//   to the shim     o FLAGS   first and once: attach; 1: with input
//                   i BYTES   input, at most `kubelet_defaults::exec_part_bytes`
//                   e         the end of the input
//                   w ROWS COLUMNS
//   from the shim   h FLAGS   attached: the container's output from now on follows.
//                             1: it has an input,
//                             2: it has a terminal
//                   n TEXT    refused, with the reason
//                   1 BYTES, 2 BYTES   of the standard output and error
//                   x CODE    exit code of the container; the last packet
//
// If the container reads no more input, the shim shuts down its side and writes fail. A connection
// that ends without `x` was cut off.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace troupe::actors {

enum class attach_packet : char {
  open = 'o',
  input = 'i',
  end_of_input = 'e',
  size = 'w',
  joined = 'h',
  refused = 'n',
  output = '1',
  error = '2',
  ended = 'x',
};

// Flags of `open` and `joined`.
constexpr int attach_with_input = 1;
constexpr int attach_with_terminal = 2;

inline std::string make_packet(attach_packet kind, std::string_view content = {}) {
  std::string packet{static_cast<char>(kind)};
  packet += content;
  return packet;
}

// Returns nothing if `content` is not a number from 0 to 65,535.
std::optional<int> packet_number(std::string_view content);
// Parses "ROWS COLUMNS".
std::optional<std::pair<int, int>> packet_size(std::string_view content);

// The address of the socket in the directory open as `directory`: its path may be longer than a
// socket address.
sockaddr_un attach_address(int directory);

}  // namespace troupe::actors
