// Events of a node: what its changes mean, and those of a real kubelet.
#include "actors/kubelet/node/node_events.hpp"

#include <array>
#include <catch2/catch.hpp>

#include "actors/core/labels.hpp"
#include "actors/kubelet/fake_runtime.hpp"
#include "actors/kubelet/machine.hpp"
#include "actors/scheduler/builders.hpp"

namespace troupe::test {

using actors::scheduler::make_node;
using api::core::v1::Node;

namespace {

Node node(const std::string& status, const std::string& spec = "{}") {
  auto made = make_node("n", "{}", spec);
  Node body{made->as<Node>()};
  for (std::size_t i = 0; i < status.size(); ++i) {
    auto& condition = *body.mutable_status()->add_conditions();
    condition.set_type(std::array{"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"}.at(i));
    condition.set_status(status[i] == 't' ? "True" : status[i] == 'f' ? "False" : "Unknown");
  }
  return body;
}

std::string reasons(const std::vector<actors::node_event>& events) {
  std::string text;
  for (const auto& each : events) {
    CHECK(each.warning == (each.reason == "Rebooted"));
    if (!each.warning) CHECK(each.message == "Node n status is now: " + each.reason);
    text += each.reason + " ";
  }
  return text;
}

std::string events(const Node& before, const Node& now) {
  return reasons(actors::events_of_change(before, now));
}

}  // namespace

TEST_CASE("a node's condition that changes is an event, unless the control plane changed it",
          "[kubelet]") {
  CHECK(events(node("ffft"), node("ffft")).empty());
  CHECK(events(node("ffft"), node("tttf")) ==
        "NodeHasInsufficientMemory NodeHasDiskPressure NodeHasInsufficientPID NodeNotReady ");
  CHECK(events(node("tttf"), node("ffft")) ==
        "NodeHasSufficientMemory NodeHasNoDiskPressure NodeHasSufficientPID NodeReady ");
  CHECK(events(node("ffft"), node("uuuu")).empty());
  CHECK(events(node("fffu"), node("ffft")) == "NodeReady ");
  CHECK(events(node(""), node("", "{unschedulable: true}")) == "NodeNotSchedulable ");
  CHECK(events(node("", "{unschedulable: true}"), node("")) == "NodeSchedulable ");
}

TEST_CASE("a kubelet that starts reports each condition of pressure, and a cordon", "[kubelet]") {
  CHECK(reasons(actors::events_of_start(node("ffft"))) ==
        "NodeHasSufficientMemory NodeHasNoDiskPressure NodeHasSufficientPID ");
  CHECK(reasons(actors::events_of_start(node("ftff", "{unschedulable: true}"))) ==
        "NodeHasSufficientMemory NodeHasDiskPressure NodeHasSufficientPID NodeNotSchedulable ");
  CHECK(reasons(actors::events_of_start(node(""))).empty());
}

TEST_CASE("a node whose boot has another id has been rebooted", "[kubelet]") {
  auto before = node("ffft"), now = before;
  now.mutable_status()->mutable_node_info()->set_boot_id("b2");
  CHECK(events(before, now).empty());
  before.mutable_status()->mutable_node_info()->set_boot_id("b1");
  CHECK(events(before, now) == "Rebooted ");
  CHECK(actors::events_of_change(before, now).front().message ==
        "Node n has been rebooted, boot id: b2");
}

TEST_CASE("a kubelet that starts, and its node that is cordoned, have an event each", "[kubelet]") {
  machine here;
  here.start_kubelet();
  REQUIRE(machine::wait([&] { return here.events("here", "Starting").size() == 1; }));
  CHECK(here.events("here", "Starting").front() == "Starting kubelet.");
  here.change<Node>("here", [](Node& node) { node.mutable_spec()->set_unschedulable(true); });
  CHECK(machine::wait([&] {
    return here.events("here", "NodeNotSchedulable") ==
           std::vector<std::string>{"Node here status is now: NodeNotSchedulable"};
  }));
  CHECK(here.events("here", "Starting").size() == 1);
}

TEST_CASE("a node without rules for services has a label that says so", "[kubelet]") {
  machine here;
  here.adjust = [](actors::kubelet_options& options) { options.has_service_rules = false; };
  here.start_kubelet();
  REQUIRE(machine::wait([&] { return !here.events("here", "Starting").empty(); }));
  const auto is_marked = [&] {
    return here.change<Node>("here", [](Node&) {})
        ->meta()
        .labels()
        .contains(actors::no_service_rules);
  };
  CHECK(machine::wait(is_marked));
  here.stop_kubelet();
  here.adjust = {};
  here.start_kubelet();
  CHECK(machine::wait([&] { return !is_marked(); }));
}

TEST_CASE("a node whose images fill the disk has an event for each different problem",
          "[kubelet]") {
  machine here;
  const auto runtime = std::make_shared<fake_runtime>();
  here.containers = runtime;
  here.start_kubelet();
  const auto seen = [&] { return here.events("here", "FreeDiskSpaceFailed"); };
  runtime->fill_disk("one byte short");
  REQUIRE(machine::wait([&] { return !seen().empty(); }));
  runtime->fill_disk("two bytes short");
  REQUIRE(machine::wait([&] { return seen().size() == 2; }));
  CHECK(seen() == std::vector<std::string>{"one byte short", "two bytes short"});
}

}  // namespace troupe::test
