// The SPDY/3.1 codec: written frames are read, wherever they are cut, and invalid input is not.
#include "actors/kubelet/os/spdy_frames.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace troupe::actors;

namespace {

// Frames as texts; the data of a stream is joined until another frame comes.
struct heard {
  std::string all;
  std::optional<std::uint32_t> open;

  spdy_reader::receiver receiver() {
    return [this](const spdy_frame& frame) {
      if (frame.type == spdy_type::data) {
        if (open != frame.stream) all += "data " + std::to_string(frame.stream) + ":";
        open = frame.stream;
        all += frame.data;
        if (frame.last) all += "$";
        return;
      }
      open.reset();
      all += std::to_string(static_cast<int>(frame.type)) + " " + std::to_string(frame.stream) +
             (frame.last ? "$" : "");
      for (const auto& [name, value] : frame.headers)
        all += " " + name + "=" + value;
      if (frame.status != 0) all += " " + std::to_string(frame.status);
      all += ";";
    };
  }
};

std::string data(std::uint32_t stream, const std::string& bytes, bool last = false) {
  return spdy_data_head(stream, bytes.size(), last) + bytes;
}

std::string read(std::string_view wire) {
  heard got;
  spdy_reader reader;
  const auto wrong = reader.feed(wire, got.receiver());
  return wrong ? "wrong: " + *wrong : got.all;
}

}  // namespace

TEST_CASE("SPDY frames split at any place are decoded unchanged") {
  std::mt19937 random{7};
  for (int round = 0; round < 200; ++round) {
    spdy_writer writer;
    std::string wire, expected;
    for (std::uint32_t stream = 1; stream < 12; stream += 2) {
      const std::string value(random() % 300, static_cast<char>('a' + random() % 26));
      wire += writer.write({.type = spdy_type::syn_stream,
                            .stream = stream,
                            .headers = {{"streamtype", "data"}, {"port", value}}});
      expected += "1 " + std::to_string(stream) + " streamtype=data port=" + value + ";";
      const std::string bytes(random() % 50'000, 'x');
      wire += data(stream, bytes, true);
      expected += "data " + std::to_string(stream) + ":" + bytes + "$";
      wire += writer.write({.type = spdy_type::ping, .stream = stream});
      expected += "6 " + std::to_string(stream) + ";";
    }
    wire += writer.write({.type = spdy_type::rst_stream, .stream = 3, .status = 1});
    expected += "3 3 1;";
    heard got;
    spdy_reader reader;
    for (std::size_t at = 0; at < wire.size();) {
      const auto size = std::min<std::size_t>(wire.size() - at, 1 + random() % 9'000);
      REQUIRE_FALSE(reader.feed(std::string_view{wire}.substr(at, size), got.receiver()));
      at += size;
    }
    REQUIRE(got.all == expected);
  }
}

TEST_CASE("the dictionary of SPDY is that of the draft") {
  spdy_writer writer;
  const auto frame = writer.write({.type = spdy_type::syn_reply, .stream = 1, .headers = {}});
  // The header of the zlib stream names the dictionary by its checksum: draft 3, 1,423 bytes.
  REQUIRE(frame.size() > 8 + 4 + 6);
  CHECK(frame.substr(8 + 4 + 2, 4) == "\xe3\xc6\xa7\xc2");
}

TEST_CASE("frames that break the rules of SPDY are named") {
  spdy_writer writer;
  CHECK(read(data(1, "", true)) == "data 1:$");
  CHECK(read(data(1, "")).empty());
  CHECK(read(std::string{"\x80\x02\x00\x01\x00\x00\x00\x04", 8} + "abcd") ==
        "wrong: expected frames of SPDY/3");
  CHECK(read(std::string{"\x80\x03\x00\x06\x00\x00\x00\x00", 8}) == "wrong: a frame is too short");
  CHECK(read(std::string{"\x80\x03\x00\x01\x00\xff\xff\xff", 8}) == "wrong: a frame is too large");
  CHECK(read(std::string{"\x80\x03\x00\x01\x00\x00\x00\x0c", 8} + "0123456789ab") ==
        "wrong: the headers of a frame are invalid");
  // Small when compressed, and 2 MB when not.
  const auto bomb = writer.write(
      {.type = spdy_type::syn_stream, .stream = 1, .headers = {{"a", std::string(2 << 20, 'a')}}});
  REQUIRE(bomb.size() < 16'000);
  CHECK(read(bomb) == "wrong: the headers of a frame are invalid");
}

TEST_CASE("the SPDY reader survives random bytes") {
  std::mt19937 random{5};
  spdy_writer writer;
  const auto good = writer.write({.type = spdy_type::syn_stream,
                                  .stream = 1,
                                  .headers = {{"streamtype", "error"}, {"port", "80"}}});
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = good;
    for (int i = 0; i < 3; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    heard got;
    spdy_reader reader;
    static_cast<void>(reader.feed(bytes, got.receiver()));
    CHECK(got.all.size() <= 1'000);
  }
}
