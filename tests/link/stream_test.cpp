// Frames over real sockets.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <thread>

#include "link/machines.hpp"
#include "runtime/link/defaults.hpp"
#include "support/sanitizer.hpp"

namespace troupe::test {
namespace {

namespace defaults = link::defaults;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

// Checks that frames are consecutive numbers, without keeping them.
class counter final : public link::receiver {
 public:
  explicit counter(std::size_t wanted) : wanted_{wanted} {}
  void received(link::delivery frame) override {
    if (frame.bytes() != std::to_string(count_)) wrong_ = true;
    if (++count_ != wanted_) return;
    std::lock_guard lock{mutex_};
    done_ = true;
    changed_.notify_all();
  }
  void ended(const std::string&) override {}

  bool await() {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, 2 * patience, [this] { return done_; }) && !wrong_;
  }

 private:
  const std::size_t wanted_;
  std::size_t count_ = 0;
  std::atomic<bool> wrong_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
};

void send_numbers(link::session& over, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    while (!over.send(std::to_string(i)))
      std::this_thread::yield();
}

TEST_CASE("a node calls a plane: each end knows its peer, and frames go both ways") {
  plane there;
  node here{there.listener->address()};
  const auto at_plane = there.sessions.await();
  const auto at_node = here.sessions.await();
  REQUIRE(at_plane.session);
  REQUIRE(at_node.session);
  const auto& caller = at_plane.session->other();
  REQUIRE(caller.name == "system:node:a");
  REQUIRE(caller.groups == std::vector<std::string>{"system:nodes"});
  REQUIRE(caller.key_hash.substr(0, 7) == "sha256:");
  REQUIRE(caller.key_hash.size() == 7 + 64);
  REQUIRE(caller.address.substr(0, 10) == "127.0.0.1:");
  REQUIRE(at_node.session->other().name == "troupe");
  REQUIRE(at_node.session->other().address ==
          "127.0.0.1:" + std::to_string(there.listener->address().port));

  REQUIRE(at_node.session->send("hello"));
  REQUIRE(at_plane.session->send("welcome"));
  REQUIRE(at_plane.notes->await_frames(1));
  REQUIRE(at_node.notes->await_frames(1));
  REQUIRE(at_plane.notes->frames().front() == "hello");
  REQUIRE(at_node.notes->frames().front() == "welcome");
  REQUIRE(at_plane.session->stats().frames_received == 1);
  REQUIRE(eventually([&] { return at_plane.session->stats().window_bytes == 0; }));
}

TEST_CASE("the listener opens at IPv6 too") {
  plane there{false, {"::1", 0}};
  node here{{"::1", there.listener->address().port}};
  const auto at_plane = there.sessions.await();
  REQUIRE(at_plane.session);
  REQUIRE(at_plane.session->other().address.substr(0, 6) == "[::1]:");
  // The acceptor has it registered with the same address: an established session is not closed.
  REQUIRE_FALSE(at_plane.notes->await_end(defaults::handshake_limit / 1ms * 1ms + 1s));
}

TEST_CASE("a million small frames each way arrive in order") {
  constexpr std::size_t count = sanitized ? 100'000 : 1'000'000;
  const auto at_plane = std::make_shared<counter>(count),
             at_node = std::make_shared<counter>(count);
  std::promise<link::session_ptr> plane_side, node_side;
  const auto giving = [](auto& promise, auto& to) {
    return [&](const link::session_ptr& with)
               -> tl::expected<std::shared_ptr<link::receiver>, std::string> {
      promise.set_value(with);
      return to;
    };
  };
  auto listener = link::listener::start(
      {{"127.0.0.1", 0}, always(plane_credentials()), giving(plane_side, at_plane)});
  REQUIRE(listener);
  const auto dialer = link::dialer::start({(*listener)->address(), always(node_credentials()),
                                           giving(node_side, at_node), [](const std::string&) {}});
  REQUIRE(dialer);
  const auto from_plane = plane_side.get_future().get();
  const auto from_node = node_side.get_future().get();
  const auto begun = steady_clock::now();
  std::thread other{[&] { send_numbers(*from_plane, count); }};
  send_numbers(*from_node, count);
  other.join();
  REQUIRE(at_plane->await());
  REQUIRE(at_node->await());
  const auto took = std::chrono::duration<double>(steady_clock::now() - begun).count();
  std::printf("link: %.0f frames a second, both ways together\n", 2 * count / took);
}

TEST_CASE("frames of all sizes arrive whole and in order") {
  plane there;
  node here{there.listener->address()};
  const auto at_node = here.sessions.await();
  std::vector<std::string> sent;
  for (const std::size_t size :
       {0ul, 1ul, 100'000ul, 131'000ul, 131'072ul, 200'000ul, 0ul, 1'000'000ul, 5ul}) {
    sent.emplace_back(size, static_cast<char>('a' + sent.size()));
    REQUIRE(at_node.session->send(sent.back()));
  }
  sent.emplace_back(defaults::frame_limit_bytes, 'z');
  REQUIRE(at_node.session->send(sent.back()));
  REQUIRE_FALSE(at_node.session->send(std::string(defaults::frame_limit_bytes + 1, 'z')));
  const auto at_plane = there.sessions.await();
  REQUIRE(at_plane.notes->await_frames(sent.size()));
  REQUIRE(at_plane.notes->frames() == sent);
}

TEST_CASE("a receiver that holds deliveries stops its peer, and delays no other session") {
  plane there;
  there.sessions.on_session = [](const link::session_ptr& with, notebook& notes) {
    if (with->other().name == "system:node:slow") notes.hold();
  };
  node slow{there.listener->address(), always(node_credentials("slow"))};
  const auto from_slow = slow.sessions.await().session;
  const auto at_plane = there.sessions.await();
  REQUIRE(at_plane.session);
  const std::string frame(100'000, 'x');
  // Until the window, the frames in transit and the outbox are full, and stay full.
  std::size_t taken = 0;
  const auto full = [&] {
    return at_plane.session->stats().window_bytes >= defaults::window_limit_bytes;
  };
  for (const auto deadline = steady_clock::now() + patience;
       !full() && taken < 1'000 && steady_clock::now() < deadline;)
    taken += from_slow->send(frame) ? 1 : 0;
  for (int refused = 0; refused < 1'000 && taken < 1'000; std::this_thread::yield()) {
    if (from_slow->send(frame))
      ++taken, refused = 0;
    else
      ++refused;
  }
  REQUIRE(full());
  const auto most = defaults::window_limit_bytes + defaults::outbox_limit_bytes +
                    2 * defaults::read_ahead_bytes + 4 * defaults::packet_limit_bytes;
  REQUIRE(taken * frame.size() < most);
  REQUIRE(from_slow->stats().outbox_bytes <= defaults::outbox_limit_bytes + frame.size() + 200);
  REQUIRE(at_plane.session->stats().window_bytes <=
          defaults::window_limit_bytes + defaults::packet_limit_bytes + 1'000);

  node quick{there.listener->address(), always(node_credentials("quick"))};
  const auto from_quick = quick.sessions.await().session;
  const auto quick_at_plane = there.sessions.await(1);
  REQUIRE(quick_at_plane.session);
  const auto begun = steady_clock::now();
  for (std::size_t i = 1; i <= 100; ++i) {
    REQUIRE(from_quick->send("ping"));
    REQUIRE(quick_at_plane.notes->await_frames(i));
  }
  const auto took = steady_clock::now() - begun;
  REQUIRE(took < promised(5s));
  // The slow session's other direction is free as well.
  REQUIRE(at_plane.session->send("still there?"));
  REQUIRE(slow.sessions.await().notes->await_frames(1));

  at_plane.notes->let_go();
  REQUIRE(at_plane.notes->await_frames(taken));
}

TEST_CASE("frames sent before a close arrive, and the peer gets the reason") {
  plane there;
  node here{there.listener->address()};
  const auto at_node = here.sessions.await(), at_plane = there.sessions.await();
  for (int i = 0; i < 100; ++i)
    REQUIRE(at_node.session->send(std::string(10'000, 'x')));
  at_node.session->close("node a leaves");
  REQUIRE_FALSE(at_node.session->send("late"));
  REQUIRE(at_plane.notes->await_end());
  REQUIRE(at_plane.notes->count() == 100);
  REQUIRE(at_plane.notes->ends() == std::vector<std::string>{"node a leaves"});
  REQUIRE(at_node.notes->await_end());
  REQUIRE(at_node.notes->ends() == std::vector<std::string>{"node a leaves"});

  // It calls again, and now the control plane closes.
  const auto again_at_node = here.sessions.await(1), again_at_plane = there.sessions.await(1);
  REQUIRE(again_at_plane.session);
  REQUIRE(again_at_plane.session->send("last words"));
  again_at_plane.session->close("go to another plane");
  REQUIRE(again_at_node.notes->await_end());
  REQUIRE(again_at_node.notes->frames() == std::vector<std::string>{"last words"});
  REQUIRE(again_at_node.notes->ends() == std::vector<std::string>{"go to another plane"});
  REQUIRE(again_at_plane.notes->await_end());
}

TEST_CASE("a node that could not write still reads what the plane sent before its end") {
  plane there;
  std::promise<void> go_on;
  session_log sessions;
  sessions.on_session = [&](const link::session_ptr&, notebook& notes) {
    notes.on_frame = [&, first = true](const std::string&) mutable {
      if (std::exchange(first, false)) go_on.get_future().wait();
    };
  };
  failure_log failures;
  const auto dialer = link::dialer::start({there.listener->address(), always(node_credentials()),
                                           sessions.acceptor(), failures.callback()})
                          .value();
  const auto at_node = sessions.await(), at_plane = there.sessions.await();
  REQUIRE(at_plane.session);
  for (int i = 0; i < 3; ++i)
    REQUIRE(at_plane.session->send(std::string(100'000, 'x')));
  at_plane.session->close("go to another plane");
  REQUIRE(at_plane.notes->await_end());
  // The plane has ended the call while the node handles the first frame.
  const auto refused = eventually([&] { return !at_node.session->send("late"); });
  go_on.set_value();
  REQUIRE(refused);
  REQUIRE(at_node.notes->await_end());
  REQUIRE(at_node.notes->count() == 3);
  REQUIRE(at_node.notes->ends() == std::vector<std::string>{"go to another plane"});
}

TEST_CASE("a session is closed in time although its peer takes nothing") {
  plane there{true};
  node here{there.listener->address()};
  const auto at_node = here.sessions.await(), at_plane = there.sessions.await();
  while (at_plane.session->stats().window_bytes < defaults::window_limit_bytes ||
         at_node.session->stats().outbox_bytes < defaults::outbox_limit_bytes)
    at_node.session->send(std::string(100'000, 'x'));
  const auto begun = steady_clock::now();
  at_node.session->close("node a leaves");
  REQUIRE(at_node.notes->await_end());
  const auto took = steady_clock::now() - begun;
  REQUIRE(took < promised(defaults::linger + 1s));
  REQUIRE(at_plane.notes->await_end());
}

TEST_CASE("a refused caller gets the reason, and retries later") {
  plane there;
  there.sessions.refuse("no node of this name: run `troupe join` on it");
  node here{there.listener->address()};
  REQUIRE(here.failures.await("no node of this name: run `troupe join` on it"));
  REQUIRE(here.sessions.count() == 0);
  there.sessions.refuse("");
  REQUIRE(there.sessions.await().session);
  REQUIRE(here.sessions.await().session);
}

TEST_CASE("a caller that reaches a wrong plane reports it and calls again") {
  plane there;
  session_log sessions;
  sessions.refuse("this is not the plane of my cluster");
  failure_log failures;
  const auto dialer = link::dialer::start({there.listener->address(), always(node_credentials()),
                                           sessions.acceptor(), failures.callback()});
  REQUIRE(dialer);
  REQUIRE(failures.await("this is not the plane of my cluster"));
  const auto at_plane = there.sessions.await();
  REQUIRE(at_plane.notes->await_end());
  REQUIRE(at_plane.notes->ends().front() == "this is not the plane of my cluster");
  REQUIRE(there.sessions.await(1).session);
}

TEST_CASE("frames sent by the acceptors arrive first") {
  plane there;
  there.sessions.on_session = [](const link::session_ptr& with, notebook&) { with->send("one"); };
  node here{there.listener->address()};
  const auto at_node = here.sessions.await();
  there.sessions.await().session->send("two");
  REQUIRE(at_node.notes->await_frames(2));
  REQUIRE(at_node.notes->frames() == std::vector<std::string>{"one", "two"});
}

TEST_CASE("a listener that ends informs its sessions, and is gone within two seconds") {
  auto there = std::make_unique<plane>(true);
  node here{there->listener->address()};
  const auto at_node = here.sessions.await();
  const auto at_plane = there->sessions.await();
  SECTION("idle") {}
  SECTION("with a full window") {
    while (at_plane.session->stats().window_bytes < defaults::window_limit_bytes ||
           at_node.session->stats().outbox_bytes < defaults::outbox_limit_bytes)
      at_node.session->send(std::string(100'000, 'x'));
  }
  const auto begun = steady_clock::now();
  there->listener.reset();
  const auto took = steady_clock::now() - begun;
  REQUIRE(took < promised(2s));
  REQUIRE(at_plane.notes->ends().size() == 1);
  REQUIRE(at_node.notes->await_end());
  at_plane.notes->let_go();
}

TEST_CASE("a dialer that ends informs its session, and is gone within two seconds") {
  plane there;
  auto here = std::make_unique<node>(there.listener->address());
  const auto at_node = here->sessions.await();
  const auto at_plane = there.sessions.await();
  const auto begun = steady_clock::now();
  here->dialer.reset();
  const auto took = steady_clock::now() - begun;
  REQUIRE(took < promised(2s));
  REQUIRE(at_node.notes->ends().size() == 1);
  REQUIRE(at_plane.notes->await_end());
  REQUIRE(at_plane.notes->ends().front() == "the peer is shutting down");
}

TEST_CASE("a dialer without a reachable listener ends at once") {
  node here{{"192.0.2.1", 9}};
  const auto begun = steady_clock::now();
  here.dialer.reset();
  const auto took = steady_clock::now() - begun;
  REQUIRE(took < promised(2s));
}

}  // namespace
}  // namespace troupe::test
