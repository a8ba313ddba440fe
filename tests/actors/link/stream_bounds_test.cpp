// Streams into containers between one real end of a link and one that the test plays: credit is
// kept to the byte, and an end that exceeds it loses its session.
#include <catch2/catch.hpp>
#include <map>

#include "actors/link/defaults.hpp"
#include "actors/link/raw_ends.hpp"
#include "actors/link/remote_client.hpp"
#include "support/fake_streams.hpp"

namespace troupe::test {

using actors::exec_part;
using actors::runtime_error;
using Catch::Matchers::Contains;
using std::chrono::seconds;
using From = actors::wire::FromNode::Item;
using To = actors::wire::ToNode::Item;
using refusal = actors::wire::StreamOpened::Refusal;

namespace {

constexpr std::size_t window = actors::link_defaults::stream_window_bytes;
constexpr std::size_t piece = actors::link_defaults::stream_piece_bytes;

// A node's gateway with its streams, and a control plane played by the test.
struct gateway_world {
  gateway_world() {
    gateway = actors::spawn_gateway(
        simulation.system(),
        {.node = "n0", .streams = streams, .unlinked = [this](const std::string& reason) {
           unlinked = reason;
         }});
    simulation.settle();
    made = connect_raw_plane(gateway);
    simulation.settle();
  }

  template <class F>
  void say(F fill) {
    REQUIRE(made.plane->say(fill));
    simulation.settle();
  }
  std::vector<From> heard() { return std::exchange(made.plane->heard, {}); }
  void open(std::uint64_t ask, const std::string& command, std::uint32_t credit) {
    say([&](auto& item) {
      item.mutable_open_stream()->set_ask(ask);
      item.mutable_open_stream()->set_container_id("c1");
      item.mutable_open_stream()->add_command(command);
      item.mutable_open_stream()->set_credit(credit);
    });
  }
  void input(std::uint64_t ask, std::size_t bytes) {
    say([&](auto& item) {
      item.mutable_stream_input()->set_ask(ask);
      item.mutable_stream_input()->set_text(std::string(bytes, 'x'));
    });
  }
  void more(std::uint64_t ask, std::uint32_t credit) {
    say([&](auto& item) {
      item.mutable_more_output()->set_ask(ask);
      item.mutable_more_output()->set_credit(credit);
    });
  }

  const std::shared_ptr<fake_streams> streams = std::make_shared<fake_streams>();
  std::string unlinked;
  runtime::simulation simulation{1};
  runtime::actor_ref gateway;
  plane_line made;
};

// A control plane, and a node played by the test.
struct session_world {
  session_world() {
    world.add("n0");
    made = connect_raw_node(plane, "n0");
  }

  template <class F>
  void say(F fill) {
    REQUIRE(made.node->say(fill));
    plane.settle();
  }
  std::vector<To> heard() { return std::exchange(made.node->heard, {}); }
  const std::string& end() const { return made.node->end; }
  // Requests that the node has received.
  std::uint64_t ask() {
    source->open_exec("c1", {{"ls"}, true, false}, client.opened());
    plane.settle();
    const auto asked = heard();
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].open_stream().credit() == window);
    return asked[0].open_stream().ask();
  }
  std::uint64_t open(std::uint32_t credit) {
    const auto number = ask();
    say([&](auto& item) {
      item.mutable_stream_opened()->set_ask(number);
      item.mutable_stream_opened()->set_credit(credit);
    });
    REQUIRE(client.stream);
    return number;
  }
  void output(std::uint64_t number, std::size_t bytes) {
    say([&](auto& item) {
      item.mutable_stream_output()->set_ask(number);
      item.mutable_stream_output()->set_text(std::string(bytes, 'x'));
    });
  }
  void taken(std::uint64_t number, std::uint32_t bytes) {
    say([&](auto& item) {
      item.mutable_input_taken()->set_ask(number);
      item.mutable_input_taken()->set_bytes(bytes);
    });
  }
  // Bytes of input sent to the node since the last call.
  std::size_t input() {
    std::size_t bytes = 0;
    for (const auto& each : heard()) {
      CHECK(each.stream_input().text().size() <= piece);
      bytes += each.stream_input().text().size();
    }
    return bytes;
  }

  joined_cluster world{1, {.plane = {.controllers = false}}};
  cluster& plane = world.plane();
  const std::shared_ptr<actors::stream_source> source = plane.plane().links().streams_of("n0");
  node_line made;
  remote_client client;
};

}  // namespace

// -- the node -------------------------------------------------------------------------------------

TEST_CASE("a node sends exactly as many bytes of a stream as it has credit for", "[link]") {
  gateway_world t;
  t.open(7, "ls", 10);
  const auto opened = t.heard();
  REQUIRE(opened.size() == 1);
  CHECK(opened[0].stream_opened().ask() == 7);
  CHECK_FALSE(opened[0].stream_opened().has_refusal());
  CHECK(opened[0].stream_opened().credit() == window);

  std::string all;
  for (int i = 0; all.size() < 1u << 20; ++i)
    all += std::to_string(i);
  const auto command = t.streams->commands().at(0);
  command->say(all.substr(0, 600'000));
  command->say(all.substr(600'000));
  command->exit(3);
  t.simulation.settle();
  std::string seen;
  const auto take = [&] {
    for (const auto& each : t.heard()) {
      REQUIRE_FALSE(each.stream_output().text().empty());
      CHECK(each.stream_output().text().size() <= piece);
      seen += each.stream_output().text();
    }
  };
  take();
  CHECK(seen == all.substr(0, 10));
  for (const std::uint32_t credit : {1u, 100'000u, 1u}) {
    const auto before = seen.size();
    t.more(7, credit);
    t.simulation.advance(seconds{1});
    take();
    CHECK(seen.size() == before + credit);
  }
  t.more(7, 1u << 20);
  t.simulation.advance(seconds{1});
  const auto rest = t.heard();
  REQUIRE_FALSE(rest.empty());
  for (const auto& each : rest)
    seen += each.stream_output().text();
  CHECK(seen == all);
  CHECK(rest.back().stream_ended().ask() == 7);
  CHECK(rest.back().stream_ended().code() == 3);
  CHECK(t.streams->open_commands() == 0);
}

TEST_CASE("a node takes input as its command does, and says how much", "[link]") {
  gateway_world t;
  t.open(1, "sink", 0);
  t.heard();
  for (int i = 0; i < 4; ++i)
    t.input(1, piece);
  REQUIRE(t.unlinked.empty());
  const auto command = t.streams->commands().at(0);
  CHECK(command->written() == fake_command::pipe_bytes);
  auto heard = t.heard();
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].input_taken().bytes() == piece);
  command->take_input();
  t.simulation.settle();
  heard = t.heard();
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].input_taken().bytes() == piece);
  command->refuse_input();
  t.simulation.settle();
  heard = t.heard();
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].input_taken().refused());
  t.input(1, piece);
  CHECK(t.heard().empty());
}

TEST_CASE("a control plane that sends more input than it has credit for loses its session",
          "[link]") {
  gateway_world t;
  t.open(1, "sink", 0);
  t.input(1, window);
  CHECK(t.unlinked.empty());
  // The command has read nothing of the second piece.
  t.input(1, piece + 1);
  CHECK_THAT(t.unlinked, Contains("more input of a stream than it has credit for"));
  CHECK(t.streams->open_commands() == 0);
}

TEST_CASE("a stream number that is used twice ends the session", "[link]") {
  gateway_world t;
  t.open(1, "sink", 0);
  t.open(1, "sink", 0);
  CHECK_THAT(t.unlinked, Contains("opens a stream twice"));
}

TEST_CASE("a node refuses invalid, unknown and too many streams", "[link]") {
  gateway_world t;
  t.say([](auto& item) {
    item.mutable_open_stream()->set_ask(1);
    item.mutable_open_stream()->set_kind(actors::wire::OpenStream::PORT);
    item.mutable_open_stream()->set_port(70'000);
  });
  auto heard = t.heard();
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].stream_opened().refusal().kind() == refusal::FAILED);
  CHECK(heard[0].stream_opened().refusal().message() == "70000 is not a port");
  for (std::size_t i = 0; i <= actors::link_defaults::container_streams; ++i)
    t.open(10 + i, "sink", 0);
  heard = t.heard();
  CHECK(t.streams->open_commands() == actors::link_defaults::container_streams);
  REQUIRE(heard.back().stream_opened().has_refusal());
  CHECK(heard.back().stream_opened().refusal().kind() == refusal::REFUSED);
  t.say([](auto& item) { item.mutable_close_stream()->set_ask(10); });
  t.open(1'000, "sink", 0);
  CHECK_FALSE(t.heard().back().stream_opened().has_refusal());

  runtime::simulation simulated{1};
  const auto bare = actors::spawn_gateway(simulated.system(), {.node = "n1"});
  const auto plane = connect_raw_plane(bare);
  simulated.settle();
  REQUIRE(plane.plane->say([](auto& item) { item.mutable_open_stream()->set_ask(1); }));
  simulated.settle();
  REQUIRE(plane.plane->heard.size() == 1);
  CHECK(plane.plane->heard[0].stream_opened().refusal().kind() == refusal::UNSUPPORTED);
}

TEST_CASE("messages about a node's stream from other actors are ignored", "[link]") {
  gateway_world t;
  t.open(1, "sink", 100);
  t.heard();
  actors::wire::StreamEnded ended;
  ended.set_ask(1);
  t.gateway.tell(ended);
  actors::wire::StreamOutput output;
  output.set_ask(1);
  output.set_text("forged");
  t.gateway.tell(output);
  t.simulation.settle();
  CHECK(t.heard().empty());
  t.streams->commands().at(0)->say("true");
  t.simulation.settle();
  const auto heard = t.heard();
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].stream_output().text() == "true");
}

TEST_CASE("a node whose control plane does not read buffers a few pieces of each stream",
          "[link]") {
  gateway_world t;
  t.made.plane->deaf = true;
  constexpr std::size_t count = 100;
  for (std::size_t ask = 1; ask <= count; ++ask) {
    t.open(ask, "ls", 1u << 30);
    for (int i = 0; i < 16; ++i)
      t.streams->commands().back()->say(std::string(piece, 'x'));
    t.simulation.settle();
  }
  t.simulation.advance(seconds{10});
  CHECK(t.unlinked.empty());
  std::size_t read = 0;
  for (const auto& each : t.streams->commands())
    read += each->read();
  // The link's queue, and two pieces of each: one at the gateway, one that was read.
  CHECK(read < runtime::link::defaults::window_limit_bytes +
                   actors::link_defaults::streams_ahead_bytes + (2 * count + 2) * piece);
  // No more than this precedes other messages of the node, above all its Lease.
  CHECK(t.made.line.one->stats().outbox_bytes <
        actors::link_defaults::streams_ahead_bytes + 2 * piece);
  t.made.plane->listen();
  t.simulation.advance(seconds{20});
  std::map<std::uint64_t, std::size_t> seen;
  for (const auto& each : t.heard())
    seen[each.stream_output().ask()] += each.stream_output().text().size();
  for (std::size_t ask = 1; ask <= count; ++ask)
    CHECK(seen[ask] == 16 * piece);
}

// -- the control plane ----------------------------------------------------------------------------

TEST_CASE("a control plane sends input as far as the node gives credit, in pieces", "[link]") {
  session_world t;
  const auto number = t.open(100'000);
  t.client.write(std::string(300'000, 'x'));
  t.plane.settle();
  CHECK(t.input() == 100'000);
  t.taken(number, 1);
  CHECK(t.input() == 1);
  CHECK(t.client.written.empty());
  t.taken(number, 100'000);
  t.taken(number, 99'999);
  CHECK(t.input() == 199'999);
  t.taken(number, 100'000);
  CHECK(t.client.written == std::vector<bool>{true});
  t.client.stream->close_input();
  t.plane.settle();
  const auto heard = t.heard();
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].end_input().ask() == number);
}

TEST_CASE("a control plane grants credit for bytes that were read, half a window at once",
          "[link]") {
  session_world t;
  const auto number = t.open(0);
  for (int i = 0; i < 4; ++i)
    t.output(number, piece);
  CHECK(t.end().empty());
  t.client.read();
  t.plane.settle();
  CHECK(t.heard().empty());
  t.client.read();
  t.plane.settle();
  const auto heard = t.heard();
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].more_output().ask() == number);
  CHECK(heard[0].more_output().credit() == window / 2);
}

TEST_CASE("a node that overruns its credit loses its session", "[link]") {
  session_world t;
  const auto number = t.open(0);
  t.output(number, window);
  CHECK(t.end().empty());
  t.output(number, 1);
  CHECK_THAT(t.end(), Contains("the node sends more of a stream than it has credit for"));
  t.client.continue_reading();
  CHECK(t.client.output.size() == window);
  CHECK(t.client.end.size() == 1);
}

TEST_CASE("a node that acknowledges unsent input, or sends before it opens, loses its session",
          "[link]") {
  session_world t;
  SECTION("taken") {
    const auto number = t.open(100);
    t.client.write("four");
    t.plane.settle();
    t.taken(number, 5);
    CHECK_THAT(t.end(), Contains("takes more input of a stream than it was sent"));
  }
  SECTION("early") {
    t.output(t.ask(), 1);
    CHECK_THAT(t.end(), Contains("of a stream that it has not opened"));
    REQUIRE(t.client.error);
    CHECK(t.client.error->message == "the link to node n0 was lost");
  }
  SECTION("twice") {
    const auto number = t.open(100);
    t.say([&](auto& item) { item.mutable_stream_opened()->set_ask(number); });
    CHECK_THAT(t.end(), Contains("opens a stream twice"));
  }
}

TEST_CASE("a control plane asks a node for no more streams than the bound", "[link]") {
  // They are also answered when the session ends.
  std::vector<std::unique_ptr<remote_client>> all;
  session_world t;
  for (std::size_t i = 0; i <= actors::link_defaults::container_streams; ++i) {
    auto& client = *all.emplace_back(std::make_unique<remote_client>());
    t.source->open_exec("c1", {{"ls"}, true, false}, client.opened());
  }
  t.plane.settle();
  CHECK(t.heard().size() == actors::link_defaults::container_streams);
  CHECK(all[0]->answers == 0);
  REQUIRE(all.back()->error);
  CHECK(all.back()->error->message == "node n0 has 250 streams into its containers: try again");
}

// Like a version without streams.
TEST_CASE("a request that a node ignores fails after 5 s", "[link]") {
  session_world t;
  const auto number = t.ask();
  t.plane.advance(seconds{6});
  REQUIRE(t.client.error);
  CHECK(t.client.error->message == "node n0 did not answer within 5 s: its link may be down");
  const auto heard = t.heard();
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].close_stream().ask() == number);
  t.say([&](auto& item) { item.mutable_stream_opened()->set_ask(number); });
  CHECK(t.end().empty());
  CHECK(t.client.answers == 1);
}

TEST_CASE("messages of a node about unknown streams change nothing", "[link]") {
  session_world t;
  t.world.add("n1");
  const auto other = connect_raw_node(t.plane, "n1");
  const auto number = t.open(100);
  t.client.continue_reading();
  for (const auto ask : {number, number + 1, std::uint64_t{0}}) {
    REQUIRE(other.node->say_all([&](auto& frame) {
      frame.add_items()->mutable_stream_opened()->set_ask(ask);
      auto& output = *frame.add_items()->mutable_stream_output();
      output.set_ask(ask);
      output.set_text("forged");
      frame.add_items()->mutable_input_taken()->set_ask(ask);
      frame.add_items()->mutable_stream_ended()->set_ask(ask);
    }));
    t.plane.settle();
  }
  CHECK(other.node->end.empty());
  CHECK(t.client.output.empty());
  CHECK(t.client.end.empty());
  CHECK(other.node->heard.empty());
}

TEST_CASE("a node that does not read holds up the input of its streams, not the session",
          "[link]") {
  // They are also answered when the session ends.
  std::vector<std::unique_ptr<remote_client>> all;
  session_world t;
  for (int i = 0; i < 40; ++i) {
    auto& client = *all.emplace_back(std::make_unique<remote_client>());
    t.source->open_exec("c1", {{"sink"}, true, false}, client.opened());
    t.plane.settle();
    const auto number = t.heard().at(0).open_stream().ask();
    t.say([&](auto& item) {
      item.mutable_stream_opened()->set_ask(number);
      item.mutable_stream_opened()->set_credit(window);
    });
  }
  t.made.node->deaf = true;
  for (const auto& each : all)
    each->write(std::string(window, 'x'));
  t.plane.advance(seconds{10});
  std::size_t unread = 0;
  for (const auto& each : t.made.node->unread)
    unread += each.bytes().size();
  CHECK(unread < 40 * window);
  CHECK(t.end().empty());
  t.made.node->listen();
  t.plane.advance(seconds{10});
  CHECK(t.input() == 40 * window);
}

}  // namespace troupe::test
