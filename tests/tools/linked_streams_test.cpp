// Streams into the containers of joined nodes, over real links and on threads.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "actors/link/defaults.hpp"
#include "actors/link/node_gateway.hpp"
#include "support/fake_streams.hpp"
#include "tools/joined_plane.hpp"

namespace troupe::tools {

using actors::exec_part;
using test::eventually;
using test::joined_plane;
using troupe::test::fake_streams;
using namespace std::chrono_literals;

namespace {

// A joined machine with its end of the link, and its container runtime.
class far_machine {
 public:
  explicit far_machine(const joined_credentials& given) {
    gateway_ = actors::spawn_gateway(system_, {.node = given.node_name, .streams = streams});
    const auto port = given.link_address.substr(given.link_address.find(':') + 1);
    dialer_ = test::must(runtime::link::dialer::start(
        {.to = {"127.0.0.1", static_cast<std::uint16_t>(std::stoi(port))},
         .credentials =
             [given] {
               return runtime::link::credentials{given.certificate, given.private_key,
                                                 given.authority};
             },
         .accept = actors::gateway_acceptor(gateway_),
         .failed = [](const std::string&) {}}));
  }

  const std::shared_ptr<fake_streams> streams = std::make_shared<fake_streams>();

 private:
  runtime::actor_system system_;
  runtime::actor_ref gateway_;
  std::unique_ptr<runtime::link::dialer> dialer_;
};

std::unique_ptr<actors::exec_stream> open(actors::stream_source& source, const std::string& name) {
  std::promise<std::unique_ptr<actors::exec_stream>> opened;
  source.open_exec("c1", {{name}, true, false},
                   [&](auto made) { opened.set_value(made ? std::move(*made) : nullptr); });
  return opened.get_future().get();
}

exec_part next(actors::exec_stream& stream) {
  std::promise<exec_part> part;
  stream.read([&](exec_part read) { part.set_value(std::move(read)); });
  return part.get_future().get();
}

bool say(actors::exec_stream& stream, std::string text) {
  std::promise<bool> taken;
  stream.write(std::move(text), [&](bool well) { taken.set_value(well); });
  return taken.get_future().get();
}

// Sends all of it on one thread, and returns the output read on another.
std::string echo(actors::exec_stream& stream, const std::string& all, std::size_t piece) {
  std::thread writer{[&] {
    for (std::size_t at = 0; at < all.size() && say(stream, all.substr(at, piece)); at += piece) {
    }
    stream.close_input();
  }};
  std::string seen;
  for (auto part = next(stream); part.from == exec_part::kind::output; part = next(stream))
    seen += part.bytes;
  writer.join();
  return seen;
}

std::string bytes_of(std::uint32_t seed, std::size_t size) {
  std::mt19937 random{seed};
  std::string made(size, '\0');
  for (auto& each : made)
    each = static_cast<char>(random());
  return made;
}

}  // namespace

TEST_CASE("streams of a joined node go on at once over a real link, byte for byte") {
  joined_plane plane;
  far_machine node{plane.admit("n0")};
  REQUIRE(eventually([&] { return plane.links().connected("n0"); }));
  const auto source = plane.control().links().streams_of("n0");
  std::vector<std::future<bool>> all;
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    all.push_back(std::async(std::launch::async, [&, seed] {
      const auto bytes = bytes_of(seed, 2u << 20);
      const auto stream = open(*source, "echo");
      return stream && echo(*stream, bytes, seed * 50'000) == bytes;
    }));
  }
  for (auto& each : all)
    CHECK(each.get());
  CHECK(eventually([&] { return node.streams->open_commands() == 0; }));
}

TEST_CASE("a lost link ends pending reads and writes of its streams") {
  joined_plane plane;
  auto node = std::make_unique<far_machine>(plane.admit("n0"));
  REQUIRE(eventually([&] { return plane.links().connected("n0"); }));
  const auto source = plane.control().links().streams_of("n0");
  const auto stream = open(*source, "sink");
  REQUIRE(stream);
  auto read = std::async(std::launch::async, [&] { return next(*stream); });
  auto written =
      std::async(std::launch::async, [&] { return say(*stream, std::string(1u << 20, 'x')); });
  plane.hang_up();
  CHECK(read.get().code == actors::link_defaults::lost_stream_code);
  CHECK_FALSE(written.get());
  CHECK(eventually([&] { return node->streams->open_commands() == 0; }));
  CHECK_FALSE(open(*source, "sink"));
}

TEST_CASE("how fast a stream of a joined node is", "[.bench]") {
  joined_plane plane;
  far_machine node{plane.admit("n0")};
  REQUIRE(eventually([&] { return plane.links().connected("n0"); }));
  const auto stream = open(*plane.control().links().streams_of("n0"), "echo");
  REQUIRE(stream);
  const auto all = bytes_of(1, 64u << 20);
  const auto begun = std::chrono::steady_clock::now();
  CHECK(echo(*stream, all, 256u << 10) == all);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  fmt::print("64 MiB there and back in {:.2f} s: {:.0f} MiB/s each way\n", took.count(),
             64 / took.count());
}

}  // namespace troupe::tools
