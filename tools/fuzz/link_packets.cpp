// The bytes of a link before any frame is parsed: greeting and packets.
#include <algorithm>

#include "runtime/link/defaults.hpp"
#include "runtime/link/transport/hello.hpp"
#include "runtime/link/transport/packets.hpp"
#include "runtime/link/transport/text.hpp"
#include "tools/fuzz/entries.hpp"

namespace troupe::fuzz {
namespace {

namespace link = runtime::link;
namespace defaults = link::defaults;

// Each packet is preceded by two bytes with its size and one with the number of further copies,
// divided by eight: so few bytes make frames above the limit.
constexpr std::size_t head_bytes = 3;
constexpr std::size_t times_unit = 8;
constexpr std::size_t work_bytes = 2 * defaults::frame_limit_bytes;
// The part of a packet that is not frames.
constexpr std::size_t packet_slack_bytes = 16;

// -- the greeting ---------------------------------------------------------------------------------

void check_line(const std::string& text) {
  require(!text.empty() && text.size() < 1000, "a reason is there and short");
  require(
      std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c > '~'; }),
      "a reason is one line");
}

void greet(const link::Hello& caller) {
  if (const auto chosen = link::answer(caller)) {
    require(chosen->oldest() == chosen->newest() && chosen->newest() >= caller.oldest() &&
                chosen->newest() <= caller.newest(),
            "what is chosen is one version, and the caller speaks it");
    require(link::check(*chosen).has_value(), "who calls takes what we choose");
  } else {
    check_line(chosen.error());
  }
  if (const auto taken = link::check(caller); !taken) check_line(taken.error());
}

// -- packets --------------------------------------------------------------------------------------

// One side's packets, with the expected sizes.
class incoming {
 public:
  // False when the stream can no longer be used.
  bool take(link::Packet packet) {
    for (const auto& part : packet.frames())
      given_ += part.size();
    const bool open = packet.frames_size() > 0 ? packet.continues() : open_;
    const auto whole = in_.take(packet);
    if (!whole) {
      require(given_ - joined_ > defaults::frame_limit_bytes, "only a large frame is refused");
      check_line(whole.error());
      return false;
    }
    for (const auto& frame : *whole) {
      require(frame.size() <= defaults::frame_limit_bytes, "a frame has its bound");
      joined_ += frame.size();
      frames.push_back(frame);
    }
    open_ = open;
    require(open_ || joined_ == given_, "every byte is in a frame");
    require(given_ - joined_ <= defaults::frame_limit_bytes, "what waits has its bound");
    return true;
  }

  std::vector<std::string> frames;

 private:
  link::unpacker in_;
  std::size_t given_ = 0, joined_ = 0;
  bool open_ = false;
};

void pass_on(const std::vector<std::string>& frames) {
  link::packer out;
  incoming again;
  for (const auto& frame : frames)
    out.add(frame);
  for (link::Packet packet; out.fill(packet); packet = {}) {
    require(packet.ByteSizeLong() <= defaults::packet_limit_bytes + packet_slack_bytes,
            "a packet of ours has its bound");
    require(again.take(packet), "what we send can be received");
  }
  require(again.frames == frames && out.bytes() == 0, "frames survive their packets");
}

void read_packets(std::string_view bytes) {
  incoming all;
  bool greeted = false;
  std::size_t work = 0;
  while (bytes.size() > head_bytes && work < work_bytes) {
    const auto byte = [&](std::size_t i) {
      return std::size_t{static_cast<unsigned char>(bytes[i])};
    };
    const auto text = bytes.substr(head_bytes, byte(0) | byte(1) << 8);
    const auto times = byte(2) * times_unit + 1;
    bytes.remove_prefix(head_bytes + text.size());
    link::Packet packet;
    if (!packet.ParseFromArray(text.data(), static_cast<int>(text.size()))) return;
    if (!std::exchange(greeted, true)) greet(packet.hello());
    if (packet.has_bye()) {
      const auto line = link::one_line(packet.bye().reason());
      if (!line.empty()) check_line(line);
    }
    for (std::size_t i = 0; i < times && work < work_bytes; ++i) {
      work += text.size() + 1;
      if (!all.take(packet)) return;
    }
  }
  pass_on(all.frames);
}

// -- seeds ----------------------------------------------------------------------------------------

std::string written(const link::Packet& packet, std::uint8_t more = 0) {
  const auto text = packet.SerializeAsString();
  std::string out{static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8),
                  static_cast<char>(more)};
  return out + text;
}

std::vector<std::string> packets() {
  link::Packet hello, whole, part, last, bye;
  *hello.mutable_hello() = link::first_hello();
  for (const char* frame : {"a frame", "", "another"})
    whole.add_frames(frame);
  part.add_frames(std::string(200, 'p'));
  part.set_continues(true);
  last.add_frames("end");
  bye.mutable_bye()->set_reason("the node leaves");
  auto stranger = hello;
  stranger.mutable_hello()->set_oldest(7);
  stranger.mutable_hello()->set_newest(9);
  link::Packet large = part;
  large.set_frames(0, std::string(3'000, 'l'));
  return {written(hello) + written(whole) + written(bye),
          written(hello) + written(whole) + written(part, 1) + written(last) + written({}),
          written(stranger), written(hello) + written(large, 255)};
}

}  // namespace

void add_link_packets(std::vector<entry>& to) {
  to.push_back({"link_packets", &packets, &read_packets});
}

}  // namespace troupe::fuzz
