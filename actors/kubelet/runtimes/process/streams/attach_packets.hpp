// What a container's shim and those attached to the container say on the socket `attach` in the
// container's directory. It is a socket of packets (SOCK_SEQPACKET): one is taken whole or not at
// all, so nobody keeps half of one. A packet is a letter and what belongs to it; numbers are text.
//
//   to the shim     o FLAGS   first and once: joins; 1: with input
//                   i BYTES   input, at most `kubelet_defaults::exec_part_bytes`
//                   e         the end of the input
//                   w ROWS COLUMNS
//   from the shim   h FLAGS   joined: what the container writes from now on follows. 1: it takes
//   input,
//                             2: it has a terminal
//                   n TEXT    not joined, for that reason
//                   1 BYTES, 2 BYTES   of the standard output and error
//                   x CODE    how the container ended; the last
//
// Bytes for a container that reads no more: the shim shuts its side down, and writes fail. A
// connection that ends without `x` was cut off.
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

// Nothing for what is no number from 0 to 65,535.
std::optional<int> packet_number(std::string_view content);
// "ROWS COLUMNS".
std::optional<std::pair<int, int>> packet_size(std::string_view content);

// The socket in the directory that is open as `directory`: its path may be longer than an address
// can hold.
sockaddr_un attach_address(int directory);

}  // namespace troupe::actors
