// Packs frames into packets and unpacks them. Pure; the caller locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "runtime/link/transport/stream.pb.h"

namespace troupe::runtime::link {

// The cost of a frame in an outbox or a window.
std::size_t cost_of(const std::string& frame);

// Frames that wait to be sent.
class packer {
 public:
  void add(std::string frame);
  // Moves the next frames that fit to the packet; returns true if there were any.
  bool fill(Packet& packet);
  void clear();

  std::size_t bytes() const noexcept { return bytes_; }
  // Counters of completely packed frames.
  std::uint64_t frames_packed() const noexcept { return frames_packed_; }
  std::uint64_t bytes_packed() const noexcept { return bytes_packed_; }

 private:
  std::deque<std::string> frames_;
  std::size_t gone_ = 0;  // bytes of the first frame that were packed earlier
  std::size_t bytes_ = 0;
  std::uint64_t frames_packed_ = 0, bytes_packed_ = 0;
};

class unpacker {
 public:
  // Returns the frames that the packet completes, in order, or an error if one exceeds the limit,
  // after which the stream is unusable.
  tl::expected<std::vector<std::string>, std::string> take(Packet& packet);

 private:
  std::string partial_;
};

}  // namespace troupe::runtime::link
