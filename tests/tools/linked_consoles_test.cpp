// The consoles of joined nodes, queried over real links.
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <mutex>

#include "actors/link/defaults.hpp"
#include "actors/link/node_gateway.hpp"
#include "api/schema/core_node.pb.h"
#include "runtime/link/defaults.hpp"
#include "support/link/loopback.hpp"
#include "tools/joined_plane.hpp"

namespace troupe::tools {

using api::core::v1::Node;
using test::eventually;
using test::joined_plane;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

constexpr std::size_t no_limit = 1u << 20;
constexpr std::chrono::milliseconds console_patience = 50s;

// A joined machine that has only its end of the link. Its console answers with ten
// bytes, or never.
class far_console {
 public:
  explicit far_console(const joined_credentials& given) {
    gateway_ = actors::spawn_gateway(
        system_, {.node = given.node_name, .console = [this](auto question, auto done) {
                    const std::lock_guard lock{mutex_};
                    asked_.push_back(question);
                    if (question.target == "never")
                      kept_.push_back(std::move(done));
                    else
                      done({200, "0123456789", 7});
                  }});
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

  ~far_console() {
    dialer_.reset();
    const std::lock_guard lock{mutex_};
    kept_.clear();
  }

  std::vector<actors::console_request> asked() const {
    const std::lock_guard lock{mutex_};
    return asked_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<actors::console_request> asked_;
  std::vector<std::function<void(actors::console_view)>> kept_;
  runtime::actor_system system_;
  runtime::actor_ref gateway_;
  std::unique_ptr<runtime::link::dialer> dialer_;
};

server::console_answer ask(joined_plane& plane, const std::string& node,
                           server::console_question question,
                           std::chrono::milliseconds deadline = console_patience,
                           std::size_t limit_bytes = no_limit) {
  linked_consoles others{plane.control()};
  // Shared by both sides: a second answer throws.
  const auto answer = std::make_shared<std::promise<server::console_answer>>();
  others.ask(node, std::move(question), deadline, limit_bytes,
             [answer](server::console_answer got) { answer->set_value(std::move(got)); });
  return answer->get_future().get();
}

}  // namespace

TEST_CASE("the console of a joined node answers over its link, and learns the user of a request") {
  joined_plane plane;
  const far_console far{plane.admit("n0")};
  REQUIRE(eventually([&] { return plane.links().connected("n0"); }));
  const auto view = ask(plane, "n0", {"actors?top=3", false, "somebody"});
  CHECK(view.status == 200);
  CHECK(view.body == "0123456789");
  CHECK(view.total == 7);
  CHECK(ask(plane, "n0", {"kill?id=1", true, "an administrator"}).status == 200);
  const auto asked = far.asked();
  REQUIRE(asked.size() == 2);
  CHECK(asked[0].target == "actors?top=3");
  CHECK_FALSE(asked[0].changes);
  CHECK(asked[0].user == "somebody");
  CHECK(asked[1].changes);
  CHECK(asked[1].user == "an administrator");
}

TEST_CASE("an answer that is longer than the asker takes is refused, one that just fits is not") {
  joined_plane plane;
  const far_console far{plane.admit("n0")};
  REQUIRE(eventually([&] { return plane.links().connected("n0"); }));
  CHECK(ask(plane, "n0", {"actors"}, console_patience, 10).body == "0123456789");
  const auto refused = ask(plane, "n0", {"actors"}, console_patience, 9);
  CHECK(refused.status == 413);
  CHECK_THAT(refused.body, Contains("node n0 is longer than 9 bytes: request less"));
}

TEST_CASE("a console that never answers is waited for until the deadline, and no longer") {
  joined_plane plane;
  const far_console far{plane.admit("n0")};
  REQUIRE(eventually([&] { return plane.links().connected("n0"); }));
  const auto begin = std::chrono::steady_clock::now();
  const auto view = ask(plane, "n0", {"never"}, 200ms);
  const auto waited = std::chrono::steady_clock::now() - begin;
  CHECK(waited >= 200ms);
  CHECK(waited < actors::link_defaults::request_limit);
  CHECK(view.status == 504);
  CHECK_THAT(view.body, Contains("node n0 did not answer in time"));
  CHECK(eventually([&] { return far.asked().size() == 1; }));
  // Its place is free for the next request.
  CHECK(ask(plane, "n0", {"actors"}).status == 200);
}

TEST_CASE("a node whose link is down is distinguished from one that never joined") {
  joined_plane plane;
  {
    const far_console far{plane.admit("n0")};
    REQUIRE(eventually([&] { return plane.links().connected("n0"); }));
    // The link is lost while a request is pending.
    linked_consoles others{plane.control()};
    const auto answer = std::make_shared<std::promise<server::console_answer>>();
    others.ask("n0", {"never"}, console_patience, no_limit,
               [answer](server::console_answer got) { answer->set_value(std::move(got)); });
    REQUIRE(eventually([&] { return far.asked().size() == 1; }));
    plane.hang_up();
    const auto lost = answer->get_future().get();
    CHECK(lost.status == 503);
    CHECK_THAT(lost.body, Contains("the link to node n0 was lost"));
  }
  REQUIRE(eventually([&] { return !plane.links().connected("n0"); }));
  const auto down = ask(plane, "n0", {"actors"});
  CHECK(down.status == 503);
  CHECK_THAT(down.body, Contains("node n0 is not connected"));
  auto other = std::make_unique<Node>();
  other->mutable_metadata()->set_name("beside-the-store");
  plane.create(std::move(other));
  for (const auto* nobody : {"n1", "beside-the-store", ""}) {
    const auto unknown = ask(plane, nobody, {"actors"});
    CHECK(unknown.status == 404);
    CHECK_THAT(unknown.body, Contains("there is no link to it"));
  }
}

TEST_CASE("the links that there are are listed by name, also those that are down") {
  joined_plane plane;
  const far_console far{plane.admit("n1")};
  plane.admit("n0");
  auto other = std::make_unique<Node>();
  other->mutable_metadata()->set_name("beside-the-store");
  plane.create(std::move(other));
  REQUIRE(eventually([&] { return plane.links().connected("n1"); }));
  REQUIRE(ask(plane, "n1", {"actors"}).status == 200);
  const auto rows = linked_consoles{plane.control()}.links();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].node == "n0");
  CHECK_FALSE(rows[0].connected);
  CHECK(rows[0].peer.empty());
  CHECK(rows[0].age.count() + rows[0].messages_in + rows[0].messages_out == 0);
  CHECK(rows[1].node == "n1");
  CHECK(rows[1].connected);
  CHECK_THAT(rows[1].peer, Contains("127.0.0.1"));
  CHECK(rows[1].age.count() > 0);
  CHECK(rows[1].age < 1min);
  // One question, one answer.
  CHECK(rows[1].messages_out == 1);
  CHECK(rows[1].messages_in == 1);
  CHECK(rows[1].bytes_out > std::string{"actors"}.size());
  CHECK(rows[1].bytes_in > std::string{"0123456789"}.size());
  CHECK(rows[1].bytes_in < 100);
}

TEST_CASE("bytes queued for a node are shown in the list of links") {
  joined_plane plane;
  const auto given = plane.admit("n0");
  // A node that releases no deliveries: four frames fill its window.
  class hoarder final : public runtime::link::receiver {
   public:
    void received(runtime::link::delivery delivery) override {
      kept_.push_back(std::move(delivery));
    }
    void ended(const std::string&) override {}

   private:
    std::vector<runtime::link::delivery> kept_;
  };
  const auto line = troupe::test::make_loopback(
      {"system:node:n0",
       {"system:nodes"},
       test::must(server::x509::key_hash(given.certificate)),
       "10.0.0.1:1"},
      [end = std::make_shared<hoarder>()](const auto&) { return end; }, {"plane", {}, {}, {}},
      plane.control().links().acceptor());
  REQUIRE(eventually([&] { return plane.links().connected("n0"); }));
  for (int i = 0; i < 4; ++i)
    REQUIRE(line.other->send(std::string(1u << 20, ' ')));
  CHECK(linked_consoles{plane.control()}.links().at(0).queued_bytes == 0);
  REQUIRE(line.other->send(std::string(1'000, ' ')));
  CHECK(linked_consoles{plane.control()}.links().at(0).queued_bytes ==
        1'000 + runtime::link::defaults::frame_overhead_bytes);
  line.cut();
}

}  // namespace troupe::tools
