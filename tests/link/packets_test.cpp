#include "runtime/link/transport/packets.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "runtime/link/defaults.hpp"
#include "runtime/link/transport/hello.hpp"
#include "runtime/link/transport/text.hpp"

namespace troupe::test {
namespace {

namespace link = runtime::link;
namespace defaults = link::defaults;

std::string random_frame(std::mt19937_64& random) {
  const int kind = static_cast<int>(random() % 20);
  const std::size_t size = kind == 0   ? random() % (2u << 20)
                           : kind < 3  ? random() % (200u << 10)
                           : kind < 10 ? 0
                                       : random() % 300;
  return std::string(size, static_cast<char>('a' + random() % 26));
}

TEST_CASE("any frames come out of their packets as they went in, and no packet is large") {
  std::mt19937_64 random{17};
  for (int round = 0; round < 60; ++round) {
    link::packer out;
    link::unpacker in;
    std::vector<std::string> sent, received;
    const auto pass_one = [&] {
      link::Packet packet;
      if (!out.fill(packet)) return false;
      REQUIRE(packet.ByteSizeLong() <= defaults::packet_limit_bytes + 16);
      link::Packet arrived;
      REQUIRE(arrived.ParseFromString(packet.SerializeAsString()));
      auto frames = in.take(arrived);
      REQUIRE(frames);
      received.insert(received.end(), frames->begin(), frames->end());
      return true;
    };
    for (int i = 0; i < 40; ++i) {
      sent.push_back(random_frame(random));
      out.add(sent.back());
      if (random() % 4 == 0) pass_one();
    }
    while (pass_one()) {
    }
    REQUIRE(received == sent);
    REQUIRE(out.bytes() == 0);
    REQUIRE(out.frames_packed() == sent.size());
  }
}

TEST_CASE("a frame that grows above the limit is an error, however small its parts are") {
  link::unpacker in;
  bool refused = false;
  for (std::size_t size = 0; !refused && size <= 2 * defaults::frame_limit_bytes; size += 100'000) {
    link::Packet packet;
    packet.add_frames(std::string(100'000, 'x'));
    packet.set_continues(true);
    refused = !in.take(packet);
    REQUIRE(refused == (size + 100'000 > defaults::frame_limit_bytes));
  }
  REQUIRE(refused);
}

TEST_CASE("any bytes are a packet with frames within the limit, or none") {
  std::mt19937_64 random{23};
  link::Packet model;
  *model.mutable_hello() = link::first_hello();
  model.add_frames("a frame");
  model.add_frames("");
  model.set_continues(true);
  model.mutable_bye()->set_reason("a reason");
  const auto good = model.SerializeAsString();
  link::unpacker in;
  std::size_t packets = 0;
  for (int round = 0; round < 50'000; ++round) {
    auto bytes = good;
    for (auto changes = 1 + random() % 4; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % 3 == 0 ? random() % bytes.size() : bytes.size());
    link::Packet packet;
    if (!packet.ParseFromString(bytes)) continue;
    ++packets;
    const auto frames = in.take(packet);
    if (!frames) in = {};
    for (const auto& frame : frames.value_or(std::vector<std::string>{}))
      REQUIRE(frame.size() <= defaults::frame_limit_bytes);
    if (const auto chosen = link::answer(packet.hello()))
      REQUIRE(chosen->newest() == defaults::newest_version);
    REQUIRE(link::one_line(packet.bye().reason()).find('\n') == std::string::npos);
  }
  REQUIRE(packets > 1'000);
}

TEST_CASE("two programs agree on the newest version that both speak, or say which to upgrade") {
  link::Hello other;
  other.set_program("troupe 9.9");
  other.set_oldest(1);
  other.set_newest(7);
  const auto chosen = link::answer(other);
  REQUIRE(chosen);
  REQUIRE(chosen->newest() == defaults::newest_version);
  REQUIRE(link::check(*chosen));
  REQUIRE(link::answer(link::first_hello()));

  other.set_oldest(defaults::newest_version + 1);
  REQUIRE_THAT(link::answer(other).error(),
               Catch::Contains("troupe 9.9 there") && Catch::Contains("upgrade the one here"));
  other.set_oldest(0);
  other.set_newest(0);
  REQUIRE_THAT(link::answer(other).error(), Catch::Contains("upgrade the one there"));
  REQUIRE_FALSE(link::check(other));
  other.set_program("\n\x01" + std::string(10'000, 'x'));
  const auto text = link::answer(other).error();
  REQUIRE(text.size() < 600);
  REQUIRE(text.find('\n') == std::string::npos);
}

TEST_CASE("gRPC's addresses become host and port") {
  REQUIRE(link::address_of("ipv4:10.0.0.1:6444") == "10.0.0.1:6444");
  REQUIRE(link::address_of("ipv6:%5Bfd00::1%5D:6444") == "[fd00::1]:6444");
  REQUIRE(link::address_of("ipv6:[::1]:1") == "[::1]:1");
  REQUIRE(link::host_and_port("fd00::1", 5) == "[fd00::1]:5");
  REQUIRE(link::host_and_port("node-a", 5) == "node-a:5");
}

TEST_CASE("gRPC's connection errors are explained with a remedy") {
  const auto said = [](const std::string& of) {
    return link::explained("failed to connect to all addresses; last error: " + of);
  };
  REQUIRE(
      said("UNKNOWN: ipv4:10.0.0.1:6444: Failed to connect to remote host: Connection refused") ==
      "cannot connect to 10.0.0.1:6444: Connection refused");
  REQUIRE(
      said("UNKNOWN: ipv6:%5B::1%5D:6444: Peer name a is not in peer certificate") ==
      "cannot connect to [::1]:6444: its certificate is for another name: Peer name a is not in "
      "peer certificate");
  REQUIRE_THAT(said("UNAVAILABLE: ipv4:10.0.0.1:6444: Socket closed"),
               Catch::Contains("may not accept our certificate"));
  REQUIRE_THAT(said("UNKNOWN: ipv4:10.0.0.1:6444: Ssl handshake failed: SSL_ERROR_SSL: "
                    "error:0A000086:SSL routines::certificate verify failed"),
               Catch::Contains("not signed by our CA"));
  for (const std::string odd : {"", "UNKNOWN", "UNKNOWN: ipv4:", ": ip"})
    REQUIRE_FALSE(said(odd).empty());
  REQUIRE(link::explained("DNS resolution failed for a\nb") == "DNS resolution failed for a b");
}

}  // namespace
}  // namespace troupe::test
