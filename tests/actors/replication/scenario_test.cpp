// Replication controllers at work in a simulated cluster.
#include <catch2/catch.hpp>

#include "actors/claims.hpp"
#include "actors/replication/pod_record.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "support/cluster.hpp"

namespace troupe {

using api::core::v1::Pod;
using api::core::v1::ReplicationController;

namespace {

constexpr const char* web = R"(
apiVersion: v1
kind: ReplicationController
metadata: {name: web}
spec:
  replicas: 3
  selector: {app: web}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: nginx, command: [serve]}
)";

std::size_t active_pods(const test::cluster& cluster) {
  std::size_t count = 0;
  for (const auto& pod : cluster.list<Pod>("default"))
    if (actors::replication::read_pod(pod).active()) ++count;
  return count;
}

}  // namespace

TEST_CASE("a replication controller makes as many pods as it asks for", "[replication]") {
  test::cluster cluster{1};
  cluster.create_yaml(web);
  REQUIRE(cluster.run_until([&] { return active_pods(cluster) == 3; }));
  CHECK(cluster.run_until([&] {
    return cluster.get<ReplicationController>("default", "web").status().replicas() == 3;
  }));
  for (const auto& pod : cluster.list<Pod>("default"))
    CHECK(actors::controller_uid(*pod) ==
          cluster.find<ReplicationController>("default", "web")->meta().uid());

  cluster.change<ReplicationController>("default", "web",
                                        [](auto& rc) { rc.mutable_spec()->set_replicas(1); });
  CHECK(cluster.run_until([&] { return active_pods(cluster) == 1; }));
}

}  // namespace troupe
