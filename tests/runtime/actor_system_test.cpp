#include <catch2/catch.hpp>

#include "runtime/simulation.hpp"
#include "runtime_support.hpp"

namespace troupe::runtime {

using namespace std::chrono_literals;
using test::log_of;

namespace {

struct from_two {
  int sender = 0;
  int value = 0;
};

struct collector : actor {
  explicit collector(log_of<from_two>* seen) : seen{seen} {}
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&collector::on_value);
    return table;
  }
  void on_value(const from_two& m) { seen->add(m); }
  log_of<from_two>* seen;
};

// The sender and cause that a handler saw in its message's envelope.
struct envelope_seen {
  runtime::cause cause;
  std::uint64_t sender = 0;
};
struct hop {
  int left = 0;
};

// Passes a hop on to a new child of its own until none are left.
struct relay : actor {
  explicit relay(log_of<envelope_seen>* seen) : seen{seen} {}
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&relay::on_hop);
    return table;
  }
  void on_hop(const hop& m) {
    seen->add({current_cause(), sender().id()});
    if (m.left == 0) return;
    const auto next = spawn({"relay", name() + "+"}, make<relay>(seen));
    tell(next, hop{m.left - 1});
  }
  log_of<envelope_seen>* seen;
};

struct gate_opened {};

// Blocks in its handler until the test releases it.
struct blocker : actor {
  blocker(std::mutex* gate, log_of<int>* entered) : gate{gate}, entered{entered} {}
  const behavior& make_behavior() const override {
    static const behavior table = handlers(&blocker::on_open);
    return table;
  }
  std::string describe() const override { return "handled: " + std::to_string(count) + "\n"; }
  void on_open(const gate_opened&) {
    ++count;
    entered->add(count);
    std::lock_guard wait{*gate};
  }
  std::mutex* gate;
  log_of<int>* entered;
  int count = 0;
};

}  // namespace

TEST_CASE("messages of one sender are handled in the order in which they were sent", "[runtime]") {
  log_of<from_two> seen;
  runtime::actor_system system;
  const auto to = system.spawn({"collector", "c"}, make<collector>(&seen));
  const auto send_all = [&](int sender) {
    bool taken = true;
    for (int i = 0; i < 10'000; ++i)
      taken = to.tell(from_two{sender, i}) && taken;
    return taken;
  };
  bool other_taken = false;
  std::thread other{[&] { other_taken = send_all(1); }};
  CHECK(send_all(0));
  other.join();
  CHECK(other_taken);
  REQUIRE(seen.await(20'000));
  int next[2] = {0, 0};
  bool in_order = true;
  for (const auto& m : seen.all())
    in_order = in_order && m.value == next[m.sender]++;
  CHECK(in_order);
}

TEST_CASE("a message sent by a handler inherits the cause of the handled message", "[runtime]") {
  log_of<envelope_seen> seen;
  runtime::actor_system system;
  const auto first = system.spawn({"relay", "r"}, make<relay>(&seen));
  first.tell(hop{2}, cause{77, 1234});
  REQUIRE(seen.await(3));
  const auto all = seen.all();
  for (const auto& each : all) {
    CHECK(each.cause.request == 77);
    CHECK(each.cause.revision == 1234);
  }
  CHECK(all[0].sender == 0);
  CHECK(all[1].sender == first.id());
}

TEST_CASE("a request from outside carries its cause and no sender", "[runtime]") {
  log_of<envelope_seen> seen;
  runtime::actor_system system;
  const auto to = system.spawn({"relay", "r"}, make<relay>(&seen));
  log_of<request_error> answered;
  system.request<hop>(
      to, hop{0}, test::patience, [&](auto reply) { answered.add(reply.error()); }, cause{5, 6});
  REQUIRE(answered.await(1));
  CHECK(answered.all()[0] == request_error::unhandled);
  REQUIRE(seen.await(1));
  CHECK(seen.all()[0].cause.request == 5);
  CHECK(seen.all()[0].sender == 0);
}

TEST_CASE("the directory shows depth, current message and counts of each live actor", "[runtime]") {
  std::mutex gate;
  log_of<int> entered;
  runtime::actor_system system;
  std::unique_lock closed{gate};
  const auto busy = system.spawn({"blocker", "one"}, make<blocker>(&gate, &entered));
  for (int i = 0; i < 4; ++i)
    busy.tell(gate_opened{});
  REQUIRE(entered.await(1));

  const auto row = system.actors().find(busy.id());
  REQUIRE(row);
  CHECK(row->kind == "blocker");
  CHECK(row->name == "one");
  CHECK(row->parent == 0);
  CHECK(row->received == 4);
  CHECK(row->handled == 0);
  CHECK(row->mailbox == 4);
  CHECK(row->current == "gate_opened");
  CHECK(row->current_for > 0ns);
  CHECK(system.actors().find("blocker", "one") == busy);
  CHECK_FALSE(system.actors().find("blocker", "two"));
  CHECK(system.actors().size() == 1);

  closed.unlock();
  REQUIRE(entered.await(4));
  log_of<std::string> text;
  system.request<description>(busy, runtime::describe{}, test::patience,
                              [&](auto reply) { text.add(reply ? (*reply)->text : "none"); });
  REQUIRE(text.await(1));
  CHECK(text.all()[0] == "handled: 4\n");
  const auto after = system.actors().find(busy.id());
  REQUIRE(after);
  CHECK(after->handled >= 4);
  CHECK(after->busy >= after->longest);
  CHECK(after->longest > 0ns);
}

TEST_CASE("an actor that was stopped leaves the directory and receives no more messages",
          "[runtime]") {
  simulation all{1};
  log_of<from_two> seen;
  const auto to = all.system().spawn({"collector", "c"}, make<collector>(&seen));
  all.settle();
  CHECK(to.tell(from_two{0, 1}));
  all.settle();
  all.system().stop(to);
  CHECK_FALSE(to.tell(from_two{0, 2}));
  all.settle();
  CHECK(all.system().actors().size() == 0);
  CHECK(seen.size() == 1);
}

TEST_CASE("spawning a live name at the top again gives the one that lives", "[runtime]") {
  log_of<from_two> seen;
  runtime::actor_system system;
  const auto first = system.spawn({"collector", "c"}, make<collector>(&seen));
  CHECK(system.spawn({"collector", "c"}, make<collector>(&seen)) == first);
  CHECK_FALSE(system.spawn({"collector", "d"}, make<collector>(&seen)) == first);
  system.stop(first);
  const auto next = system.spawn({"collector", "c"}, make<collector>(&seen));
  CHECK_FALSE(next == first);
  CHECK(next.id() != first.id());
}

TEST_CASE("a message type is known by its name without the namespace", "[runtime]") {
  CHECK(message_type::of<hop>().name() == "hop");
  CHECK(message_type::of<std::vector<hop>>().name().substr(0, 7) == "vector<");
  const auto m = message::of(hop{3});
  REQUIRE(m.get_if<hop>() != nullptr);
  CHECK(m.get_if<hop>()->left == 3);
  CHECK(m.get_if<from_two>() == nullptr);
  CHECK(message{}.get_if<hop>() == nullptr);
}

}  // namespace troupe::runtime
