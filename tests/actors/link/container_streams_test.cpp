// Streams into the containers of a joined machine, from the control plane's handle to the command,
// with links that break and actors that crash.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <random>

#include "actors/link/defaults.hpp"
#include "actors/link/remote_client.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using actors::exec_part;
using actors::runtime_error;
using Catch::Matchers::Contains;
using std::chrono::seconds;

namespace {

constexpr std::size_t window = actors::link_defaults::stream_window_bytes;

std::string random_bytes(std::mt19937_64& random, std::size_t size) {
  std::string made(size, '\0');
  for (auto& each : made)
    each = static_cast<char>(random());
  return made;
}

// Makes the next handler of each of them throw.
void kill_all(node_with_streams& t, const std::string& kind) {
  auto& system = t.plane.simulation().system();
  std::vector<std::string> names;
  system.actors().each([&](const auto& each) {
    if (each.kind == kind) names.push_back(each.name);
  });
  for (const auto& name : names)
    system.kill(system.actors().find(kind, name), "a test");
}

}  // namespace

TEST_CASE("a megabyte goes through a command on a joined machine and comes back byte for byte",
          "[link]") {
  for_each_seed(20, [](std::uint64_t seed) {
    node_with_streams t{seed};
    std::mt19937_64 random{seed};
    t.plane.simulation().faults({.crash = 0, .delay = 0.3, .may_crash = {}});
    const auto client = t.exec({"echo"});
    REQUIRE(client->stream);
    client->continue_reading();
    const auto all = random_bytes(random, 1u << 20);
    for (std::size_t sent = 0; sent < all.size();) {
      const auto piece = all.substr(sent, 1 + random() % 300'000);
      sent += piece.size();
      client->written.clear();
      client->write(piece);
      REQUIRE(t.plane.run_until([&] { return !client->written.empty(); }));
      REQUIRE(client->written.front());
    }
    client->stream->close_input();
    REQUIRE(t.plane.run_until([&] { return !client->end.empty(); }));
    CHECK(client->output == all);
    CHECK(client->end[0].code == 0);
    CHECK(client->end[0].bytes.empty());
    CHECK(client->errors.empty());
    CHECK(t.streams->open_commands() == 0);
  });
}

TEST_CASE("a reader that stops reading blocks the command, and no buffer grows", "[link]") {
  node_with_streams t;
  const auto client = t.exec({"echo"});
  client->write(std::string(4u << 20, 'x'));
  t.plane.advance(seconds{10});
  CHECK(client->written.empty());
  // One window of output at the control plane, the command's own buffer, one window of input.
  CHECK(t.last()->read() <= window + fake_command::pipe_bytes);
  CHECK(t.last()->written() <= window + 2 * fake_command::pipe_bytes);
  client->continue_reading();
  REQUIRE(t.plane.run_until([&] { return !client->written.empty(); }));
  CHECK(client->written.front());
  REQUIRE(t.plane.run_until([&] { return client->output.size() == 4u << 20; }));
}

TEST_CASE("a command that does not read holds the writer up", "[link]") {
  node_with_streams t;
  const auto client = t.exec({"sink"});
  client->write(std::string(1u << 20, 'x'));
  t.plane.advance(seconds{10});
  CHECK(client->written.empty());
  CHECK(t.last()->written() == fake_command::pipe_bytes);
  std::size_t taken = 0;
  REQUIRE(t.plane.run_until([&] {
    taken += t.last()->take_input().size();
    return !client->written.empty();
  }));
  CHECK(client->written.front());
  CHECK(taken + t.last()->take_input().size() == 1u << 20);
}

TEST_CASE("a command's streams are read separately, and its exit code as often as requested",
          "[link]") {
  node_with_streams t;
  const auto client = t.exec({"ls", "-l"}, false);
  CHECK(t.streams->calls() == std::vector<std::string>{"exec c1 ls -l"});
  client->continue_reading();
  t.plane.settle();
  t.last()->say("no such file\n", exec_part::kind::error);
  t.last()->say("one\n");
  t.last()->exit(7);
  t.plane.settle();
  CHECK(client->output == "one\n");
  CHECK(client->errors == "no such file\n");
  REQUIRE(client->end.size() == 1);
  CHECK(client->end[0].code == 7);
  client->read();
  REQUIRE(client->end.size() == 2);
  CHECK(client->end[1].code == 7);
  client->write("late");
  CHECK(client->written == std::vector<bool>{false});
  CHECK(t.streams->open_commands() == 0);
}

TEST_CASE("a late reader gets all output before the end", "[link]") {
  node_with_streams t;
  const auto client = t.exec({"ls"}, false);
  t.last()->say("first\n", exec_part::kind::error);
  t.plane.settle();
  t.last()->say(std::string(100'000, 'x'));
  t.plane.settle();
  t.last()->exit(1);
  t.plane.settle();
  client->read();
  CHECK(client->errors == "first\n");
  CHECK(client->output.empty());
  client->continue_reading();
  CHECK(client->output.size() == 100'000);
  REQUIRE(client->end.size() == 1);
  CHECK(client->end[0].code == 1);
}

TEST_CASE("output that does not end does not keep errors from a slow reader", "[link]") {
  node_with_streams t;
  const auto client = t.exec({"ls"}, false);
  t.last()->say(std::string(200'000, 'x'));
  t.last()->say("failed\n", exec_part::kind::error);
  t.plane.settle();
  client->read();
  CHECK(client->errors.empty());
  client->read();
  CHECK(client->errors == "failed\n");
  CHECK(client->output.size() < 200'000);
}

TEST_CASE("a command that accepts no more input reports it and continues", "[link]") {
  node_with_streams t;
  const auto client = t.exec({"head"});
  client->write(std::string(300'000, 'x'));
  t.plane.settle();
  t.last()->refuse_input();
  t.plane.settle();
  CHECK(client->written == std::vector<bool>{false});
  client->write("more");
  CHECK(client->written == std::vector<bool>{false, false});
  client->continue_reading();
  t.last()->say("bye");
  t.last()->exit(0);
  t.plane.settle();
  CHECK(client->output == "bye");
  CHECK(client->end.size() == 1);
}

TEST_CASE("the own process of a container is attached to, with a terminal that has a size",
          "[link]") {
  node_with_streams t;
  remote_client client;
  t.source->attach("c1", {{}, true, true}, client.opened());
  t.plane.settle();
  REQUIRE(client.stream);
  CHECK(t.streams->calls() == std::vector<std::string>{"attach c1 input tty"});
  for (int columns = 1; columns <= 100; ++columns)
    client.stream->resize(24, columns);
  t.plane.settle();
  CHECK(t.last()->window() == std::pair{24, 100});
  client.write("exit\n");
  client.stream->close_input();
  t.plane.settle();
  CHECK(t.last()->take_input() == "exit\n");
  CHECK(t.last()->input_ended());
  CHECK(client.written == std::vector<bool>{true});
  client.write("late");
  CHECK(client.written == std::vector<bool>{true, false});
}

TEST_CASE("a port of a pod is reached over the link, to the end of either side", "[link]") {
  node_with_streams t;
  std::unique_ptr<actors::port_stream> port;
  t.source->forward_port("u1", 8080, [&](auto made) { port = std::move(made.value()); });
  t.plane.settle();
  REQUIRE(port);
  CHECK(t.streams->calls() == std::vector<std::string>{"port u1 8080"});
  std::vector<std::string> parts;
  const auto read = [&] { port->read([&](std::string part) { parts.push_back(part); }); };
  read();
  port->write("GET /", [](bool) {});
  t.plane.settle();
  REQUIRE(parts == std::vector<std::string>{"GET /"});
  port->close_input();
  read();
  t.plane.settle();
  CHECK(parts == std::vector<std::string>{"GET /", ""});
}

TEST_CASE("a refusal of the runtime keeps its kind, message and reason", "[link]") {
  node_with_streams t;
  for (const auto kind : {runtime_error::kind::refused, runtime_error::kind::failed,
                          runtime_error::kind::not_found, runtime_error::kind::unsupported}) {
    t.streams->refuse(runtime_error{kind, "no\xff container c1", "Gone"});
    const auto client = t.exec({"ls"});
    CHECK(client->answers == 1);
    REQUIRE(client->error);
    CHECK(client->error->code == kind);
    CHECK(client->error->message == "no\uFFFD container c1");
    CHECK(client->error->reason == "Gone");
  }
  CHECK(t.plane.plane().links().table().connected("n0"));
}

TEST_CASE("a dropped handle ends the stream at its node, even in a pending operation", "[link]") {
  node_with_streams t;
  const auto client = t.exec({"sink"});
  client->read();
  client->write(std::string(1u << 20, 'x'));
  t.plane.settle();
  CHECK(t.streams->open_commands() == 1);
  client->stream.reset();
  t.plane.settle();
  CHECK(t.streams->open_commands() == 0);
  CHECK(client->reading);
  CHECK(client->written.empty());
}

TEST_CASE("a handle may go within its own answer", "[link]") {
  node_with_streams t;
  const auto client = t.exec({"ls"});
  client->stream->read([&](const exec_part&) { client->stream.reset(); });
  t.last()->say("x");
  t.plane.settle();
  CHECK_FALSE(client->stream);
  CHECK(t.streams->open_commands() == 0);
}

TEST_CASE("streams end with their link, at both of its ends, and others are opened on the next",
          "[link]") {
  const auto* end = GENERATE("cut", "gateway", "link");
  node_with_streams t;
  const auto client = t.exec({"sink"});
  client->write(std::string(1u << 20, 'x'));
  t.last()->say("seen");
  t.plane.settle();
  REQUIRE(client->written.empty());
  if (end == std::string{"cut"})
    t.world.cut("n0");
  else
    kill_all(t, end);
  t.plane.advance(seconds{1});
  CHECK(client->written == std::vector<bool>{false});
  CHECK(t.streams->open_commands() == 0);
  client->continue_reading();
  CHECK(client->output == "seen");
  REQUIRE(client->end.size() == 1);
  CHECK(client->end[0].code == actors::link_defaults::lost_stream_code);
  CHECK(client->end[0].bytes == "the link to node n0 was lost");

  REQUIRE(t.world.connect("n0"));
  t.plane.settle();
  const auto again = t.exec({"echo"});
  REQUIRE(again->stream);
  again->continue_reading();
  again->write("more");
  t.plane.settle();
  CHECK(again->output == "more");
}

TEST_CASE("despite crashes each request is answered and no command is left", "[link]") {
  for_each_seed(40, [](std::uint64_t seed) {
    node_with_streams t{seed};
    std::mt19937_64 random{seed};
    t.plane.simulation().faults({.crash = 0.02,
                                 .delay = 0.2,
                                 .may_crash = [](const std::string& kind, const std::string& name) {
                                   return kind == "gateway" || name == "links";
                                 }});
    std::vector<std::unique_ptr<remote_client>> clients;
    for (int round = 0; round < 10; ++round) {
      t.world.connect("n0");
      auto& client = clients.emplace_back(std::make_unique<remote_client>());
      t.source->open_exec("c1", {{"echo"}, true, false}, client->opened());
      t.plane.advance(std::chrono::milliseconds{random() % 2'000});
      if (!client->stream) continue;
      client->continue_reading();
      client->write(random_bytes(random, random() % 1'000'000));
      t.plane.simulation().settle(random() % 200);
      const std::array victims{"link", "container-stream", "nobody", "nobody"};
      kill_all(t, victims.at(random() % victims.size()));
      t.plane.advance(std::chrono::milliseconds{random() % 2'000});
    }
    t.plane.simulation().faults({});
    t.world.cut("n0");
    t.plane.advance(seconds{10});
    for (const auto& each : clients) {
      CHECK(each->answers == 1);
      if (!each->stream) continue;
      CHECK(each->end.size() == 1);
      CHECK(each->written.size() == 1);
    }
    CHECK(t.streams->open_commands() == 0);
  });
}

TEST_CASE("the crash of a stream's actor ends the stream with the reason, and its link stays",
          "[link]") {
  node_with_streams t;
  const auto client = t.exec({"sink"});
  client->read();
  kill_all(t, "container-stream");
  t.plane.settle();
  CHECK(t.streams->open_commands() == 0);
  REQUIRE(client->end.size() == 1);
  CHECK(client->end[0].code == actors::link_defaults::lost_stream_code);
  CHECK(client->end[0].bytes == "the stream at node n0 was lost: it has failed");
  CHECK(t.exec({"sink"})->stream);
}

TEST_CASE("a node that is not connected is distinguished from one that does not answer", "[link]") {
  node_with_streams t{1, false};
  const auto away = t.exec({"ls"});
  REQUIRE(away->error);
  CHECK(away->error->code == runtime_error::kind::refused);
  CHECK(away->error->message == "node n0 is not connected");

  REQUIRE(t.world.connect("n0"));
  t.plane.settle();
  t.streams->hold();
  const auto silent = t.exec({"ls"});
  t.plane.advance(seconds{4});
  CHECK(silent->answers == 0);
  t.plane.advance(seconds{2});
  CHECK(silent->answers == 1);
  REQUIRE(silent->error);
  CHECK(silent->error->code == runtime_error::kind::refused);
  CHECK(silent->error->message == "node n0 did not answer within 5 s: its link may be down");
  // Too late: the opener has given up.
  t.streams->release();
  t.plane.settle();
  CHECK(t.streams->open_commands() == 0);
  CHECK(silent->answers == 1);
}

TEST_CASE("a stream that waits to be opened is refused when the link goes", "[link]") {
  node_with_streams t;
  t.streams->hold();
  const auto client = t.exec({"ls"});
  CHECK(client->answers == 0);
  t.world.cut("n0");
  t.plane.settle();
  REQUIRE(client->error);
  CHECK(client->error->message == "the link to node n0 was lost");
  t.streams->release();
  t.plane.settle();
  CHECK(t.streams->open_commands() == 0);
}

TEST_CASE("streams to one node are bounded, and one that goes makes room", "[link]") {
  node_with_streams t;
  std::vector<std::unique_ptr<remote_client>> all;
  for (std::size_t i = 0; i < actors::link_defaults::container_streams; ++i)
    REQUIRE(all.emplace_back(t.exec({"sink"}))->stream);
  const auto refused = t.exec({"sink"});
  REQUIRE(refused->error);
  CHECK(refused->error->code == runtime_error::kind::refused);
  CHECK(refused->error->message == "node n0 has 250 streams into its containers: try again");
  all.pop_back();
  t.plane.settle();
  CHECK(t.exec({"sink"})->stream);
}

TEST_CASE("many streams of one node go on at once", "[link]") {
  node_with_streams t;
  std::vector<std::unique_ptr<remote_client>> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(t.exec({"echo"}));
    all.back()->continue_reading();
    all.back()->write(std::string(200'000, 'x'));
  }
  REQUIRE(t.plane.run_until([&] {
    return std::all_of(all.begin(), all.end(),
                       [](const auto& each) { return each->output.size() == 200'000; });
  }));
  CHECK(t.plane.plane().links().table().connected("n0"));
}

}  // namespace troupe::test
