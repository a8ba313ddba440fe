// The condition NetworkUnavailable of a node that gives its pods their network.
#include <catch2/catch.hpp>
#include <mutex>
#include <optional>

#include "actors/core/condition.hpp"
#include "actors/kubelet/machine.hpp"
#include "api/schema/core_node.pb.h"

namespace troupe::test {

using api::core::v1::Node;

namespace {

class networked_node {
  std::mutex mutex_;
  std::optional<std::string> problem_;  // used by the kubelet until `here` ends

 public:
  networked_node() {
    here.adjust = [this](actors::kubelet_options& options) {
      if (!has_network) return;
      options.network_problem = [this] {
        const std::lock_guard lock{mutex_};
        return problem_;
      };
    };
  }
  void say(std::optional<std::string> problem) {
    const std::lock_guard lock{mutex_};
    problem_ = std::move(problem);
  }
  // "status reason message"; empty: there is no condition.
  std::string condition() const {
    const auto node = here.node_object();
    if (!node) return {};
    const auto* found =
        actors::find_condition(node->as<Node>().status().conditions(), "NetworkUnavailable");
    return found == nullptr ? std::string{}
                            : found->status() + " " + found->reason() + " " + found->message();
  }
  bool shows(const std::string& text) const {
    return machine::wait([&] { return condition() == text; });
  }
  bool is_ready() const {
    return machine::wait([&] {
      const auto node = here.node_object();
      return node && actors::is_condition_true(node->as<Node>().status().conditions(), "Ready");
    });
  }

  machine here;
  bool has_network = true;
};

const std::string up = "False PodNetworkIsUp pods have their addresses and routes";

}  // namespace

TEST_CASE("a node shows problems of its pods' network until they are solved", "[kubelet]") {
  networked_node t;
  t.here.start_kubelet();
  REQUIRE(t.is_ready());
  CHECK(t.condition().empty());
  t.say("a firewall drops");
  CHECK(t.shows("True PodNetworkHasProblems a firewall drops"));
  t.say("no route");
  CHECK(t.shows("True PodNetworkHasProblems no route"));
  t.say("");
  CHECK(t.shows(up));
  INFO("a node that gives its pods no network any more says nothing about it");
  t.here.stop_kubelet();
  t.has_network = false;
  t.here.start_kubelet();
  CHECK(t.shows(""));
}

TEST_CASE("the condition of another program stays while the node has no problem", "[kubelet]") {
  networked_node t;
  t.here.start_kubelet();
  REQUIRE(t.is_ready());
  t.say("");
  REQUIRE(t.shows(up));
  const auto labels = [&] { return t.here.node_object()->meta().labels_size(); };
  const auto all = labels();
  t.here.change<Node>("here", [](Node& node) {
    actors::set_condition(*node.mutable_status()->mutable_conditions(),
                          {"NetworkUnavailable", "True", "CalicoIsDown", "it is down"}, {});
    node.mutable_metadata()->clear_labels();
  });
  INFO("the kubelet writes its Node again");
  REQUIRE(machine::wait([&] { return labels() == all; }));
  CHECK(t.condition() == "True CalicoIsDown it is down");
  t.say("no route");
  CHECK(t.shows("True PodNetworkHasProblems no route"));
  t.say("");
  CHECK(t.shows(up));
}

}  // namespace troupe::test
