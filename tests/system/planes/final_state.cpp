#include "system/planes/final_state.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <map>

#include "api/codec/codec.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "support/programs/eventually.hpp"
#include "system/network/joined_cluster.hpp"
#include "system/node.hpp"
#include "system/planes/stored_keys.hpp"

namespace troupe::test {

namespace {

// Of the ReplicaSet "scaled".
constexpr std::size_t scaled_at_end = 2;
const std::string pods_of_app = "/api/v1/namespaces/default/pods?labelSelector=app%3D";
const std::string scaled_set = "/apis/apps/v1/namespaces/default/replicasets/scaled";
const std::string final_maps = "/api/v1/namespaces/default/configmaps";
const std::string get_keys =
    "get --prefix --keys-only --write-out fields " + std::string{objects_prefix};

// The revisions of the config maps by name in a control plane's cache (resourceVersion=0).
std::map<std::string, revision> state_of(const machine& plane) {
  api::core::v1::ConfigMapList there;
  const auto answer = client_on(plane)->get(final_maps + "?resourceVersion=0");
  if (answer.status != 200 || !api::decode_into(answer.body, api::media::json, there)) return {};
  std::map<std::string, revision> all;
  for (const auto& each : there.items())
    all[each.metadata().name()] = std::stoull(each.metadata().resource_version());
  return all;
}

// The objects of a kind in a control plane's cache, as JSON; empty: the kind is not served.
std::string objects_in(const machine& plane, const api::kind_info& kind) {
  const auto answer = client_on(plane)->get(fmt::format("{}/{}/{}?resourceVersion=0",
                                                        kind.group().empty() ? "/api" : "/apis",
                                                        kind.api_version(), kind.plural()));
  const auto items = answer.body.find("\"items\":");
  return answer.status == 200 && items != std::string::npos ? answer.body.substr(items) : "";
}

// All control planes have the same objects of every kind soon after the clients have stopped.
void compare_objects(plane_cluster& cluster) {
  std::size_t kinds = 0;
  for (const auto* kind : api::scheme::instance().all()) {
    if (!kind->stored() || !kind->serves("list")) continue;
    INFO(kind->qualified_kind());
    std::string first;
    const auto are_equal = [&] {
      first = objects_in(cluster.plane(0), *kind);
      return objects_in(cluster.plane(1), *kind) == first &&
             objects_in(cluster.plane(2), *kind) == first;
    };
    CHECK(eventually(are_equal, settle_limit));
    kinds += first.empty() ? 0 : 1;
  }
  CHECK(kinds > 0);
  std::cout << fmt::format("planes: the objects of {} kinds compared\n", kinds) << std::flush;
}

// The control planes show what etcd has: each kind at some time after the clients have stopped,
// since leases are renewed and events expire.
void compare_with_etcd(plane_cluster& cluster) {
  std::vector<const api::kind_info*> open;
  for (const auto* kind : api::scheme::instance().all())
    if (kind->stored() && kind->serves("list")) open.push_back(kind);
  std::vector<std::string> found;
  key_revisions in_etcd;
  const auto is_equal = [&](const api::kind_info* kind) {
    const auto part = part_of(in_etcd, kind->etcd_prefix());
    const auto before = found.size();
    for (std::size_t i = 0; i < plane_cluster::size; ++i) {
      const auto& plane = cluster.plane(i);
      const auto shown = shown_by(plane, *kind);
      if (!shown)
        found.push_back(fmt::format("{}: {} cannot be listed", plane.name(), kind->plural()));
      for (const auto& each : differences(part, shown.value_or(part)))
        found.push_back(plane.name() + ": " + each);
    }
    return found.size() == before;
  };
  const auto are_equal = [&] {
    in_etcd = read_keys(cluster.control(get_keys).output);
    found = strangers(in_etcd);
    if (in_etcd.empty()) found.emplace_back("etcd does not answer");
    std::erase_if(open, is_equal);
    return found.empty();
  };
  eventually(are_equal, settle_limit);
  CHECK(found == std::vector<std::string>{});
  std::cout << fmt::format("planes: {} keys compared with etcd\n", in_etcd.size()) << std::flush;
}

bool has_pods(const machine& plane, const std::string& app, std::size_t count) {
  api::core::v1::PodList there;
  const auto answer = client_on(plane)->get(pods_of_app + app);
  return answer.status == 200 && api::decode_into(answer.body, api::media::json, there) &&
         there.items_size() == static_cast<int>(count);
}

// Waits for the final state after the clients have stopped, and adds it.
void settle(plane_cluster& cluster, evidence& found) {
  const auto is_scaled = [&] {
    return client_on(cluster.plane(0))
               ->request("PATCH", scaled_set,
                         fmt::format(R"({{"spec":{{"replicas":{}}}}})", scaled_at_end),
                         {{"content-type", "application/merge-patch+json"}})
               .status == 200;
  };
  CHECK(eventually(is_scaled, settle_limit));
  const auto all_pods = [&] {
    return has_pods(cluster.plane(0), "web", plane_load::replicas) &&
           has_pods(cluster.plane(0), "scaled", scaled_at_end);
  };
  CHECK(eventually(all_pods, settle_limit));
  // This write is later than all acknowledged writes and completes the final state.
  CHECK(eventually(
      [&] {
        const auto last = client_on(cluster.plane(1))
                              ->request("POST", final_maps, R"({"metadata":{"name":"last"}})",
                                        {{"content-type", "application/json"}});
        // 409: an earlier attempt timed out and happened.
        return last.status == 201 || last.status == 409;
      },
      settle_limit));
  for (std::size_t i = 0; i < plane_cluster::size; ++i)
    CHECK(eventually([&] { return state_of(cluster.plane(i)).contains("last"); }, settle_limit));
  for (std::size_t i = 0; i < plane_cluster::size; ++i)
    found.states[cluster.plane(i).name()] = state_of(cluster.plane(i));
  const auto end = found.states.begin()->second["last"];
  CHECK(eventually([&] { return cluster.witness().at() >= end; }, settle_limit));
  compare_objects(cluster);
  compare_with_etcd(cluster);
}

}  // namespace

evidence collect(plane_cluster& cluster, plane_load& load, bool are_well) {
  evidence found;
  found.watched = "/registry/configmaps/default/";
  found.pods = "/registry/pods/default/";
  found.owners = {{found.pods + "web-", plane_load::replicas, plane_load::replicas},
                  {found.pods + "scaled-", plane_load::scaled_replicas, scaled_at_end}};
  found.pods_of_node = plane_load::pods_of_node;
  found.services = "/registry/services/specs/";
  load.finish();
  if (are_well) settle(cluster, found);
  found.history = cluster.witness().history();
  found.writes = load.writes();
  found.reads = load.reads();
  found.lists = load.lists();
  found.watches = load.watches();
  return found;
}

std::string describe(plane_cluster& cluster) {
  std::string text;
  for (std::size_t i = 0; i < plane_cluster::size; ++i) {
    const auto& member = cluster.member(i);
    text += member.name() + ": " +
            member.control(member.client_url(), "--command-timeout 2s endpoint status").output +
            "\n" + last_part(read_file(cluster.folder() / member.name() / "log")) + "\n";
    text += cluster.plane(i).name() + ":\n" + last_part(cluster.plane(i).log()) + "\n";
  }
  return text;
}

}  // namespace troupe::test
