#include "support/link/loopback.hpp"

#include <catch2/catch.hpp>

#include "link/ends.hpp"
#include "runtime/link/defaults.hpp"

namespace troupe::test {
namespace {

namespace defaults = link::defaults;

const link::peer node{"system:node:a", {"system:nodes"}, "sha256:aa", "10.0.0.1:1"};
const link::peer plane{"troupe", {}, "sha256:bb", "10.0.0.2:2"};

link::acceptor giving(std::shared_ptr<notebook> to) {
  return [to](const link::session_ptr&) { return to; };
}

struct two {
  explicit two(bool hold = false) : at_plane{std::make_shared<notebook>(hold)} {
    made = make_loopback(node, giving(at_node), plane, giving(at_plane));
  }
  ~two() { made.cut(); }

  std::shared_ptr<notebook> at_node = std::make_shared<notebook>(), at_plane;
  loopback made;
};

TEST_CASE("a frame is received at the other end within send") {
  two ends;
  REQUIRE(ends.made.one->other().name == "troupe");
  REQUIRE(ends.made.other->other().groups == std::vector<std::string>{"system:nodes"});
  REQUIRE(ends.made.one->send("hello"));
  REQUIRE(ends.at_plane->frames() == std::vector<std::string>{"hello"});
  REQUIRE(ends.made.other->send("welcome"));
  REQUIRE(ends.at_node->frames() == std::vector<std::string>{"welcome"});
  REQUIRE(ends.made.one->stats().frames_sent == 1);
  REQUIRE(ends.made.one->stats().bytes_received == 7);
}

TEST_CASE("a receiver that answers at once is still called one at a time, in order") {
  two ends;
  int depth = 0, deepest = 0, left = 1'000;
  ends.at_node->on_frame = [&](const std::string&) {
    deepest = std::max(deepest, ++depth);
    for (int i = 0; i < 2 && left > 0; ++i, --left)
      REQUIRE(ends.made.one->send(std::to_string(left)));
    --depth;
  };
  ends.at_plane->on_frame = [&](const std::string& text) { ends.made.other->send(text); };
  ends.made.other->send("go");
  REQUIRE(deepest == 1);
  const auto back = ends.at_node->frames();
  REQUIRE(back.size() == 1'001);
  for (int i = 1; i <= 1'000; ++i)
    REQUIRE(back[i] == std::to_string(1'001 - i));
}

TEST_CASE("frames held by a receiver of a loopback fill its window, then the outbox of its peer") {
  two ends{true};
  const std::string frame(1u << 20, 'x');
  std::size_t taken = 0;
  while (taken < 100 && ends.made.one->send(frame))
    ++taken;
  const auto sent = ends.made.one->stats();
  REQUIRE(sent.outbox_bytes >= defaults::outbox_limit_bytes);
  REQUIRE(sent.outbox_bytes <= defaults::outbox_limit_bytes + frame.size() + 64);
  REQUIRE(ends.made.other->stats().window_bytes <=
          defaults::window_limit_bytes + frame.size() + 64);
  REQUIRE(ends.at_plane->count() < taken);
  REQUIRE(ends.made.other->send("the other way is free"));
  REQUIRE(ends.at_node->count() == 1);

  ends.at_plane->let_go();
  REQUIRE(ends.at_plane->count() == taken);
  REQUIRE(ends.made.other->stats().window_bytes == 0);
  REQUIRE(ends.made.one->send("again"));
}

TEST_CASE("a frame above the limit is refused, one at the limit is not") {
  two ends;
  REQUIRE_FALSE(ends.made.one->send(std::string(defaults::frame_limit_bytes + 1, 'x')));
  REQUIRE(ends.made.one->send(std::string(defaults::frame_limit_bytes, 'x')));
}

TEST_CASE("close follows the queued frames and gives both ends the reason, once") {
  two ends{true};
  const std::string frame(1u << 20, 'x');
  int taken = 0;
  while (ends.made.one->send(frame))
    ++taken;
  ends.made.one->close("node a leaves");
  ends.made.one->close("again");
  REQUIRE_FALSE(ends.made.one->send("late"));
  REQUIRE(ends.at_plane->ends().empty());
  ends.at_plane->let_go();
  REQUIRE(ends.at_plane->count() == std::size_t(taken));
  REQUIRE(ends.at_plane->ends() == std::vector<std::string>{"node a leaves"});
  REQUIRE(ends.at_node->ends() == std::vector<std::string>{"node a leaves"});
  REQUIRE_FALSE(ends.made.other->send("late"));
}

TEST_CASE("a receiver that closes its own session hears of the end after it has returned") {
  two ends;
  bool within = false;
  ends.at_plane->on_frame = [&](const std::string&) {
    ends.made.other->close("enough");
    within = !ends.at_plane->ends().empty();
  };
  ends.made.one->send("a");
  REQUIRE_FALSE(within);
  REQUIRE(ends.at_plane->ends() == std::vector<std::string>{"enough"});
  REQUIRE(ends.at_node->ends() == std::vector<std::string>{"enough"});
}

TEST_CASE("a cut loopback loses frames in transit and ends both sessions") {
  two ends{true};
  while (ends.made.one->send(std::string(1u << 20, 'x'))) {
  }
  const auto received = ends.at_plane->count();
  ends.made.cut();
  REQUIRE(ends.at_plane->count() == received);
  REQUIRE(ends.at_plane->ends() == std::vector<std::string>{"the connection was lost"});
  REQUIRE(ends.at_node->ends().size() == 1);
  REQUIRE_FALSE(ends.made.one->send("late"));
  ends.at_plane->let_go();
  REQUIRE(ends.made.other->stats().window_bytes == 0);
}

TEST_CASE("a refused caller on a loop gets the reason, and its own acceptor is not asked") {
  const auto at_node = std::make_shared<notebook>();
  const link::acceptor refuse = [](const link::session_ptr&) {
    return tl::make_unexpected(std::string{"no node of this cluster"});
  };
  auto made = make_loopback(node, giving(at_node), plane, refuse);
  REQUIRE_FALSE(made.one->send("x"));
  REQUIRE(at_node->ends().empty());
  REQUIRE(at_node.use_count() == 1);

  const auto at_plane = std::make_shared<notebook>();
  made = make_loopback(node, refuse, plane, giving(at_plane));
  REQUIRE(at_plane->ends() == std::vector<std::string>{"no node of this cluster"});
  REQUIRE_FALSE(made.other->send("x"));
}

TEST_CASE("frames sent while the acceptors decide arrive once both have accepted") {
  const auto at_node = std::make_shared<notebook>(), at_plane = std::make_shared<notebook>();
  auto made = make_loopback(
      node,
      [&](const link::session_ptr& with)
          -> tl::expected<std::shared_ptr<link::receiver>, std::string> {
        with->send("first of the node");
        return at_node;
      },
      plane,
      [&](const link::session_ptr& with)
          -> tl::expected<std::shared_ptr<link::receiver>, std::string> {
        with->send("first of the plane");
        return at_plane;
      });
  REQUIRE(at_node->frames() == std::vector<std::string>{"first of the plane"});
  REQUIRE(at_plane->frames() == std::vector<std::string>{"first of the node"});
  made.cut();
}

}  // namespace
}  // namespace troupe::test
