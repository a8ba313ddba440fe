// Frames into packets and back. Pure; the caller locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "runtime/link/transport/stream.pb.h"

namespace troupe::runtime::link {

// What a frame takes of an outbox or a window.
std::size_t cost_of(const std::string& frame);

// Frames that wait to be sent.
class packer {
 public:
  void add(std::string frame);
  // Moves what fits into the packet's frames; true when there was something.
  bool fill(Packet& packet);
  void clear();

  std::size_t bytes() const noexcept { return bytes_; }
  // Of all frames that are wholly in packets.
  std::uint64_t frames_packed() const noexcept { return frames_packed_; }
  std::uint64_t bytes_packed() const noexcept { return bytes_packed_; }

 private:
  std::deque<std::string> frames_;
  std::size_t gone_ = 0;  // bytes of the first one that are in earlier packets
  std::size_t bytes_ = 0;
  std::uint64_t frames_packed_ = 0, bytes_packed_ = 0;
};

class unpacker {
 public:
  // The frames that the packet completes, in order; an error when one is above the limit, after
  // which the stream is of no use.
  tl::expected<std::vector<std::string>, std::string> take(Packet& packet);

 private:
  std::string partial_;
};

}  // namespace troupe::runtime::link
