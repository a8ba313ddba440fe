// /metrics of a control plane with joined nodes: traffic over all links together.
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <sstream>

#include "actors/access/node_identity.hpp"
#include "actors/link/frames.pb.h"
#include "actors/link/node_links.hpp"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "runtime/link/defaults.hpp"
#include "runtime/link/link.hpp"
#include "server/fixtures/console_fixture.hpp"
#include "support/link/loopback.hpp"

namespace troupe::server::testing {

using api::core::v1::Node;
namespace link = runtime::link;

namespace {

// Names of the families of links with their labels, and their values.
std::map<std::string, double> of_links(console_test& t) {
  std::map<std::string, double> found;
  std::istringstream lines{t.get("/metrics").text()};
  for (std::string line; std::getline(lines, line);) {
    const auto space = line.rfind(' ');
    if (line.starts_with("troupe_link"))
      found[line.substr(0, space)] = std::stod(line.substr(space));
  }
  return found;
}

using values = std::map<std::string, double>;

values all_of(double links, double sent, double received, double bytes_sent, double bytes_received,
              double outbox, double window, const link::listener_stats& listener = {}) {
  values refused;
  for (std::size_t i = 0; i < link::refusal_reasons; ++i)
    refused[fmt::format("troupe_link_refused_total{{reason=\"{}\"}}",
                        to_string(static_cast<link::refusal_reason>(i)))] = listener.refused[i];
  values all{{"troupe_links", links},
             {"troupe_link_frames{direction=\"sent\"}", sent},
             {"troupe_link_frames{direction=\"received\"}", received},
             {"troupe_link_bytes{direction=\"sent\"}", bytes_sent},
             {"troupe_link_bytes{direction=\"received\"}", bytes_received},
             {"troupe_link_outbox_bytes", outbox},
             {"troupe_link_window_bytes", window}};
  all.merge(refused);
  return all;
}

// A node's end that releases no deliveries: its window fills.
class hoarder final : public link::receiver {
 public:
  void received(link::delivery delivery) override { kept_.push_back(std::move(delivery)); }
  void ended(const std::string&) override {}

 private:
  std::vector<link::delivery> kept_;
};

test::loopback connect(console_test& t, const std::string& node) {
  auto content = std::make_unique<Node>();
  content->mutable_metadata()->set_name(node);
  (*content->mutable_metadata()->mutable_annotations())[std::string{actors::node_key_annotation}] =
      "sha256:" + node;
  const auto& kind = api::kind_of<Node>();
  persistence::transaction transaction;
  transaction.mutations.push_back({kind.key({}, node), &kind, std::move(content)});
  std::promise<bool> done;
  t.plane().store().submit(std::move(transaction),
                           [&](const auto& result) { done.set_value(result.has_value()); });
  REQUIRE(done.get_future().get());
  return test::make_loopback(
      {"system:node:" + node, {"system:nodes"}, "sha256:" + node, "10.0.0.1:1"},
      [end = std::make_shared<hoarder>()](const auto&) { return end; }, {"plane", {}, {}, {}},
      t.plane().links().acceptor());
}

// A valid frame without effect: the end of an unknown stream.
std::string harmless_frame() {
  actors::wire::FromNode frame;
  frame.add_items()->mutable_unsubscribe()->set_stream(7);
  return frame.SerializeAsString();
}

}  // namespace

TEST_CASE("the metrics show the traffic of the links, and nothing of a removed node") {
  console_test t;
  const auto none = all_of(0, 0, 0, 0, 0, 0, 0);
  CHECK(of_links(t) == none);
  const auto near = connect(t, "n1");
  const auto far = connect(t, "n0");
  REQUIRE(rest_test::eventually([&] { return of_links(t) == all_of(2, 0, 0, 0, 0, 0, 0); }));

  // In both directions, and handled.
  const auto frame = harmless_frame();
  const auto size = static_cast<double>(frame.size());
  for (int i = 0; i < 3; ++i)
    REQUIRE(near.one->send(frame));
  REQUIRE(far.one->send(frame));
  REQUIRE(near.other->send(std::string(100, ' ')));
  REQUIRE(
      rest_test::eventually([&] { return of_links(t) == all_of(2, 1, 4, 100, 4 * size, 0, 0); }));

  // A session that does not handle its frames, and a node that reads no more.
  const auto session = t.system().actors().find("link", "n1");
  REQUIRE(t.system().pause(session, std::chrono::minutes{5}));
  REQUIRE(near.one->send(frame));
  constexpr double overhead = link::defaults::frame_overhead_bytes;
  CHECK(of_links(t) == all_of(2, 1, 5, 100, 5 * size, 0, size + overhead));
  constexpr std::size_t mega = 1u << 20;
  for (int i = 0; i < 4; ++i)
    REQUIRE(far.other->send(std::string(mega, ' ')));
  REQUIRE(far.other->send(std::string(1'000, ' ')));
  const double sent = 100 + 4 * mega;
  CHECK(of_links(t) == all_of(2, 5, 5, sent, 5 * size, 1'000 + overhead, size + overhead));
  REQUIRE(t.system().resume(session));
  CHECK(rest_test::eventually(
      [&] { return of_links(t) == all_of(2, 5, 5, sent, 5 * size, 1'000 + overhead, 0); }));

  far.cut();
  CHECK(rest_test::eventually([&] { return of_links(t) == all_of(1, 1, 4, 100, 4 * size, 0, 0); }));
  near.cut();
  CHECK(rest_test::eventually([&] { return of_links(t) == none; }));
}

TEST_CASE("the metrics show the refusals of the nodes' listener, by reason") {
  console_test t;
  link::listener_stats seen;
  seen.refused = {1, 2, 3, 4, 5, 6};
  t.subject().link_listener([&] { return seen; });
  CHECK(of_links(t) == all_of(0, 0, 0, 0, 0, 0, 0, seen));
  CHECK(of_links(t).at("troupe_link_refused_total{reason=\"session_refused\"}") == 5);
  t.subject().link_listener({});
  CHECK(of_links(t) == all_of(0, 0, 0, 0, 0, 0, 0));
}

}  // namespace troupe::server::testing
