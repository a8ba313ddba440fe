#include "runtime/link/transport/packets.hpp"

#include <algorithm>
#include <utility>

#include "runtime/link/defaults.hpp"

namespace troupe::runtime::link {
namespace {

// Overhead of a frame in a packet on the wire: a tag and a length.
constexpr std::size_t wire_overhead = 6;

}  // namespace

std::size_t cost_of(const std::string& frame) {
  return frame.size() + defaults::frame_overhead_bytes;
}

void packer::add(std::string frame) {
  bytes_ += cost_of(frame);
  frames_.push_back(std::move(frame));
}

bool packer::fill(Packet& packet) {
  std::size_t room = defaults::packet_limit_bytes;
  const bool any = !frames_.empty();
  while (!frames_.empty() && room > wire_overhead) {
    auto& first = frames_.front();
    room -= wire_overhead;
    const auto part = std::min(first.size() - gone_, room);
    room -= part;
    if (gone_ + part < first.size()) {
      packet.add_frames(first.data() + gone_, part);
      packet.set_continues(true);
      gone_ += part;
      break;
    }
    bytes_ -= cost_of(first);
    bytes_packed_ += first.size();
    ++frames_packed_;
    if (gone_ == 0)
      packet.add_frames(std::move(first));
    else
      packet.add_frames(first.data() + gone_, part);
    gone_ = 0;
    frames_.pop_front();
  }
  return any;
}

void packer::clear() {
  frames_.clear();
  gone_ = bytes_ = 0;
}

tl::expected<std::vector<std::string>, std::string> unpacker::take(Packet& packet) {
  std::vector<std::string> frames;
  frames.reserve(packet.frames_size());
  for (int i = 0; i < packet.frames_size(); ++i) {
    auto& part = *packet.mutable_frames(i);
    if (partial_.size() + part.size() > defaults::frame_limit_bytes)
      return tl::make_unexpected(std::string{"the peer sent a frame above the limit"});
    if (partial_.empty())
      partial_ = std::move(part);
    else
      partial_ += part;
    if (packet.continues() && i + 1 == packet.frames_size()) break;
    frames.push_back(std::exchange(partial_, {}));
  }
  return frames;
}

}  // namespace troupe::runtime::link
