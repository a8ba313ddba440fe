// How the worker of a pod ends its containers, with a runtime that the test controls.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "actors/kubelet/fake_runtime.hpp"
#include "actors/kubelet/machine.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::test {

using api::core::v1::Pod;

namespace {

struct running_pod {
  machine here;
  const std::shared_ptr<fake_runtime> runtime = std::make_shared<fake_runtime>();

  running_pod() {
    here.containers = runtime;
    here.start_kubelet();
    here.create(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n"
        "  containers: [{name: c, image: nginx}]\n");
    REQUIRE(machine::wait([&] { return here.runs("web"); }));
  }
  bool ends() const {
    return machine::wait([&] { return here.find("web") == nullptr; });
  }
  std::ptrdiff_t count(const std::string& call) const {
    const auto all = runtime->calls();
    return std::count(all.begin(), all.end(), call);
  }
};

}  // namespace

TEST_CASE("a pod has its whole grace period though that is over by the node's clock", "[kubelet]") {
  running_pod t;
  t.here.change<Pod>("web", [](Pod& pod) {
    auto& meta = *pod.mutable_metadata();
    meta.mutable_deletion_timestamp()->set_seconds(1);
    meta.set_deletion_grace_period_seconds(30);
  });
  REQUIRE(t.ends());
  CHECK(t.count("stop fake://c-0") == 1);
  CHECK(t.count("kill fake://c-0") == 0);
}

TEST_CASE("a container that the runtime could not stop is stopped again, not killed", "[kubelet]") {
  running_pod t;
  t.runtime->fail_stops("no answer");
  t.here.remove("web", 300);
  REQUIRE(machine::wait([&] { return t.count("stop fake://c-0") > 0; }));
  t.runtime->fail_stops({});
  REQUIRE(t.ends());
  CHECK(t.count("stop fake://c-0") > 1);
  CHECK(t.count("kill fake://c-0") == 0);
}

TEST_CASE("a late failure to kill a former container does not count for the next one",
          "[kubelet]") {
  running_pod t;
  t.runtime->hold_kills();
  t.runtime->lose_sandbox();
  REQUIRE(machine::wait([&] { return t.count("kill fake://c-0") > 0; }));
  t.runtime->end_container("fake://c-0", 137);
  REQUIRE(machine::wait([&] { return t.count("start fake://c-1") > 0; }));
  t.runtime->answer_held();
  t.here.remove("web", 1);
  REQUIRE(t.ends());
  CHECK(t.here.events("web", "FailedKillPod").empty());
}

}  // namespace troupe::test
