// Three control planes over an etcd that is restored from a backup.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "api/codec/codec.hpp"
#include "api/schema/core_config.pb.h"
#include "support/http_client.hpp"
#include "support/programs/eventually.hpp"
#include "support/skip.hpp"
#include "system/network/joined_cluster.hpp"
#include "system/network/network_space.hpp"
#include "system/planes/plane_cluster.hpp"

using namespace troupe::test;
using troupe::persistence::revision;

namespace {

const std::string config_maps = "/api/v1/namespaces/default/configmaps";
// Bounds only a test that hangs.
constexpr std::chrono::milliseconds restored_limit{120'000}, write_limit{10'000};
constexpr virtual_switch::port second_witness_port = 8;

// The revision of the config map in the response; 0: its status is not `wanted`, or there is none.
revision revision_of(const machine& plane, int wanted, const std::string& method,
                     const std::string& path, const std::string& body = {}) {
  try {
    const auto answer = client_on(plane, write_limit)
                            ->request(method, path, body, {{"content-type", "application/json"}});
    troupe::api::core::v1::ConfigMap found;
    if (answer.status != wanted ||
        !troupe::api::decode_into(answer.body, troupe::api::media::json, found))
      return 0;
    return std::stoull(found.metadata().resource_version());
  } catch (const std::runtime_error&) {
    return 0;
  }
}

revision create_map(const machine& plane, const std::string& name) {
  return revision_of(plane, 201, "POST", config_maps,
                     fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name));
}

revision find_map(const machine& plane, const std::string& name) {
  return revision_of(plane, 200, "GET", config_maps + "/" + name);
}

// Whether a watch after this revision is told to begin with a list.
bool is_expired(const machine& plane, revision after) {
  const auto client = client_on(plane, write_limit);
  client->send_request("GET", fmt::format("{}?watch=true&resourceVersion={}", config_maps, after));
  if (const auto status = client->receive_head().status; status != 200) return status == 410;
  const auto event = client->next_chunk();
  return event && event->find("\"code\":410") != std::string::npos;
}

// The events of config maps after this revision.
std::unique_ptr<http_client> watch(const machine& plane, revision after) {
  auto client = client_on(plane, restored_limit);
  client->send_request("GET", fmt::format("{}?watch=true&resourceVersion={}", config_maps, after));
  if (client->receive_head().status != 200) return nullptr;
  return client;
}

// Whether an event with the text arrives before the stream ends, or pauses for too long.
bool receives(http_client& stream, const std::string& text) {
  while (const auto event = stream.next_chunk())
    if (event->find(text) != std::string::npos) return true;
  return false;
}

bool has_written(const history_witness& witness, const std::string& name) {
  const auto key = "/registry/configmaps/default/" + name;
  for (const auto& step : witness.history())
    for (const auto& each : step.changes)
      if (each.key == key) return true;
  return false;
}

}  // namespace

TEST_CASE("control planes show the state of a restored etcd at newer revisions",
          "[etcd][network][planes]") {
  if (!network_space::possible()) return;
  if (const auto reason = plane_cluster::missing(); !reason.empty()) return skip(reason);
  // With the token of before, the restored etcd has the old one's id.
  const std::string token = GENERATE("restored", "etcd-cluster");
  const bool keeps_id = token == "etcd-cluster";
  CAPTURE(token);
  plane_cluster cluster;
  const auto kept = create_map(cluster.plane(0), "kept");
  REQUIRE(kept != 0);
  const auto backup = cluster.folder() / "backup";
  REQUIRE(cluster.save(backup));
  const auto stream = watch(cluster.plane(2), kept);
  REQUIRE(stream);
  const auto lost = create_map(cluster.plane(1), "lost");
  REQUIRE(lost > kept);
  CHECK(receives(*stream, "\"lost\""));
  std::jthread load{[&](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i)
      create_map(cluster.plane(0), fmt::format("load{}", i));
  }};
  CHECK(cluster.restore(backup, token));
  // Until their restart they refuse another etcd than theirs.
  CHECK(create_map(cluster.plane(2), "refused") == 0);
  if (keeps_id) {
    // No watch waits for an event that never comes, nor can a client begin another one there.
    CHECK(receives(*stream, "\"code\":410"));
    CHECK(
        client_on(cluster.plane(2), write_limit)->get(config_maps + "?resourceVersion=0").status ==
        503);
  }
  load.request_stop();
  load.join();
  for (std::size_t i = 0; i < plane_cluster::size; ++i)
    cluster.plane(i).kill();
  for (std::size_t i = 0; i < plane_cluster::size; ++i)
    cluster.plane(i).restart();

  std::filesystem::create_directories(cluster.folder() / "second");
  history_witness second{cluster.network(), second_witness_port, cluster.endpoints(),
                         cluster.folder() / "second", kept};
  for (std::size_t i = 0; i < plane_cluster::size; ++i) {
    const auto& plane = cluster.plane(i);
    INFO(plane.name());
    CHECK(eventually([&] { return find_map(plane, "kept") > lost; }, restored_limit));
    CHECK(client_on(plane, write_limit)->get(config_maps + "/lost").status == 404);
    CHECK(is_expired(plane, lost));
    const auto name = fmt::format("new{}", i);
    CHECK(eventually([&] { return create_map(plane, name) > lost || find_map(plane, name) > lost; },
                     restored_limit));
    CHECK(eventually([&] { return has_written(second, name); }, restored_limit));
  }
  for (std::size_t i = 0; i < plane_cluster::size; ++i) {
    const auto next = watch(cluster.plane(i), find_map(cluster.plane(i), "new0"));
    REQUIRE(next);
    const auto name = fmt::format("last{}", i);
    CHECK(create_map(cluster.plane(0), name) > lost);
    CHECK(receives(*next, "\"" + name + "\""));
  }
  CHECK(has_written(second, "kept"));
  CHECK_FALSE(has_written(second, "lost"));
}
