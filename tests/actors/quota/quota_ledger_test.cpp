// The ledger of quotas: reservations, and pods on lost nodes.
#include "actors/quota/quota_ledger.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "actors/write/admission_fixture.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_quota.pb.h"
#include "support/nodes.hpp"

namespace troupe::test {

using actors::quota::quota_ledger;
using api::core::v1::Pod;
using api::core::v1::ResourceQuota;
using persistence::change;
using persistence::change_type;
using persistence::transaction;
using namespace std::chrono_literals;

namespace {

ResourceQuota limits_of(const std::map<std::string, std::string>& hard) {
  ResourceQuota made;
  made.mutable_metadata()->set_name("limit");
  made.mutable_metadata()->set_namespace_("default");
  for (const auto& [resource, amount] : hard)
    (*made.mutable_spec()->mutable_hard())[resource].set_string(amount);
  return made;
}

Pod pod_with(const std::string& name, const std::string& cpu) {
  auto pod = web_pod();
  pod.mutable_metadata()->set_name(name);
  pod.mutable_metadata()->set_namespace_("default");
  auto& resources = *pod.mutable_spec()->mutable_containers(0)->mutable_resources();
  (*resources.mutable_requests())["cpu"].set_string(cpu);
  return pod;
}

template <class T>
api::object_ptr stored(const T& content) {
  return std::make_shared<const api::object>(api::kind_of<T>(), std::make_unique<T>(content), 1);
}

void add(transaction& to, const Pod& pod) {
  to.mutations.push_back({api::kind_of<Pod>().key("default", pod.metadata().name()),
                          &api::kind_of<Pod>(), std::make_unique<Pod>(pod)});
}

change change_of(const api::object_ptr& object, const api::object_ptr& previous = nullptr,
                 change_type type = change_type::created) {
  change made;
  made.type = previous ? change_type::updated : type;
  made.key = api::key_of(*object);
  made.object = object;
  made.previous = previous;
  return made;
}

// True if a pod with this request may be created now.
bool admits(quota_ledger& ledger, const std::string& cpu) {
  transaction one;
  add(one, pod_with("another", cpu));
  const auto held = ledger.reserve(one, 0);
  if (held) ledger.release(*held);
  return held.has_value();
}

bool creates(cluster& c, const std::string& name) {
  return c.try_create(std::make_unique<Pod>(pod_with(name, "100m"))).has_value();
}

std::string amount_used(const cluster& c, const std::string& resource) {
  const auto quota = c.get<ResourceQuota>("default", "limit");
  const auto found = quota.status().used().find(resource);
  return found == quota.status().used().end() ? "" : found->second.string();
}

}  // namespace

TEST_CASE("a transaction that failed leaves no reservation of an object that did not grow",
          "[quota]") {
  cluster c{1, without_controllers()};
  const auto known = pod_with("b", "100m");
  REQUIRE(c.try_create(std::make_unique<Pod>(known)));
  quota_ledger ledger{c.store()};
  ledger.load(c.store().read());
  ledger.take({change_of(stored(limits_of({{"requests.cpu", "300m"}})))});
  transaction failed;
  add(failed, pod_with("a", "100m"));
  add(failed, known);
  const auto first = ledger.reserve(failed, 0);
  REQUIRE(first);
  ledger.release(*first);

  const auto grown = pod_with("b", "200m");
  transaction next;
  add(next, grown);
  REQUIRE(ledger.reserve(next, 0));
  ledger.take({change_of(stored(grown), stored(known))});
  INFO("what is committed is no longer reserved");
  CHECK(admits(ledger, "100m"));
  CHECK_FALSE(admits(ledger, "101m"));
}

TEST_CASE("a quota that is created again while a write is in flight is not exceeded", "[quota]") {
  cluster c{1, without_controllers()};
  quota_ledger ledger{c.store()};
  ledger.load(c.store().read());
  const auto quota = stored(limits_of({{"requests.cpu", "300m"}}));
  ledger.take({change_of(quota)});
  transaction in_flight;
  add(in_flight, pod_with("a", "200m"));
  const auto held = ledger.reserve(in_flight, 0);
  REQUIRE(held);
  ledger.take({change_of(quota, nullptr, change_type::removed)});
  ledger.take({change_of(quota)});
  ledger.release(*held);
  CHECK(admits(ledger, "300m"));
  CHECK_FALSE(admits(ledger, "301m"));
}

TEST_CASE("a pod that does not end on a lost node makes room when its time is over", "[quota]") {
  cluster c{1, without_controllers()};
  c.plane().start_leading();
  add_node(c, "lost");
  c.create(limits_of({{"pods", "1"}, {"count/pods", "5"}}));
  auto pod = pod_with("a", "100m");
  pod.mutable_spec()->set_node_name("lost");
  c.create(pod);
  c.remove<Pod>("default", "a", 30);
  REQUIRE(c.find<Pod>("default", "a"));
  CHECK_FALSE(creates(c, "b"));
  // Upstream adds the grace period to the time of the deletion, which contains it already.
  c.advance(61s);
  REQUIRE(c.find<Pod>("default", "a"));
  REQUIRE(creates(c, "b"));
  CHECK(c.run_until(
      [&] { return amount_used(c, "pods") == "1" && amount_used(c, "count/pods") == "2"; }));
  CHECK_FALSE(creates(c, "c"));
  c.change<Pod>("default", "a",
                [](Pod& left) { (*left.mutable_metadata()->mutable_labels())["x"] = "y"; });
  c.remove<Pod>("default", "a", 0);
  CHECK(c.run_until(
      [&] { return amount_used(c, "pods") == "1" && amount_used(c, "count/pods") == "1"; }));
  CHECK_FALSE(creates(c, "c"));
  c.remove<Pod>("default", "b", 0);
  CHECK(creates(c, "c"));
}

TEST_CASE("a quota that is created later does not count a pod on a lost node", "[quota]") {
  cluster c{1, without_controllers()};
  c.plane().start_leading();
  add_node(c, "lost");
  auto pod = pod_with("a", "100m");
  pod.mutable_spec()->set_node_name("lost");
  c.create(pod);
  c.remove<Pod>("default", "a", 30);
  c.advance(61s);
  REQUIRE(c.find<Pod>("default", "a"));
  c.create(limits_of({{"pods", "1"}}));
  CHECK(c.run_until([&] { return amount_used(c, "pods") == "0"; }));
  REQUIRE(creates(c, "b"));
  CHECK_FALSE(creates(c, "c"));
}

}  // namespace troupe::test
