// Three control planes over three etcd members, with faults of all of them and of their network,
// while clients write, read and watch. Their responses are checked against etcd's own history.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>

#include "api/codec/codec.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "persistence/replica/log_record.hpp"
#include "support/programs/eventually.hpp"
#include "support/seeds.hpp"
#include "support/skip.hpp"
#include "system/network/joined_cluster.hpp"
#include "system/network/network_space.hpp"
#include "system/node.hpp"
#include "system/planes/plane_faults.hpp"
#include "system/planes/plane_load.hpp"
#include "system/planes/stored_keys.hpp"

using namespace troupe::test;
using namespace std::chrono_literals;
namespace api = troupe::api;
namespace persistence = troupe::persistence;
using clock_type = std::chrono::steady_clock;

namespace {

// After each fault this many writes must succeed within `peace_limit`, or within ten times what
// they took before the first one.
constexpr std::size_t writes_of_peace = 20;
constexpr std::chrono::milliseconds peace_limit{20'000};
// Of the ReplicaSet "scaled".
constexpr std::size_t scaled_at_end = 2;
// Bounds only a test that hangs.
constexpr std::chrono::milliseconds settle_limit{120'000};
const std::string pods = "/api/v1/namespaces/default/pods?labelSelector=app%3D";
const std::string scaled = "/apis/apps/v1/namespaces/default/replicasets/scaled";
const std::string maps = "/api/v1/namespaces/default/configmaps";
const std::string get_keys =
    "get --prefix --keys-only --write-out fields " + std::string{objects_prefix};

std::chrono::milliseconds since(clock_type::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock_type::now() - begin);
}

// The revisions of the config maps by name in a control plane's cache (resourceVersion=0).
std::map<std::string, revision> state_of(const machine& plane) {
  api::core::v1::ConfigMapList there;
  const auto answer = client_on(plane)->get(maps + "?resourceVersion=0");
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
    for (std::size_t i = 0; i < plane_cluster::size; ++i)
      for (const auto& each : differences(part, shown_by(cluster.plane(i), *kind)))
        found.push_back(cluster.plane(i).name() + ": " + each);
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
  const auto answer = client_on(plane)->get(pods + app);
  return answer.status == 200 && api::decode_into(answer.body, api::media::json, there) &&
         there.items_size() == static_cast<int>(count);
}

// Waits for the final state after the clients have stopped, and adds it.
void settle(plane_cluster& cluster, evidence& found) {
  const auto is_scaled = [&] {
    return client_on(cluster.plane(0))
               ->request("PATCH", scaled,
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
                              ->request("POST", maps, R"({"metadata":{"name":"last"}})",
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

// The responses until now, with the final state if all processes are well.
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

// The end of all logs, for the test's output: the files are deleted after the test.
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

// The list of TROUPE_PLANES_FAULTS: parts of names (plane_faults::choose); empty: all faults.
std::string filter_of_faults() {
  const char* list = std::getenv("TROUPE_PLANES_FAULTS");
  return list == nullptr ? "" : list;
}

void run(std::uint64_t seed, std::chrono::seconds time) {
  const auto filter = filter_of_faults();
  const auto chosen = plane_faults::choose(filter);
  if (!chosen.problem.empty()) FAIL("TROUPE_PLANES_FAULTS: " << chosen.problem);
  plane_cluster cluster;
  plane_load load{cluster, {.seed = seed}};
  plane_faults faults{cluster, seed, chosen.used};
  const auto started = clock_type::now();
  REQUIRE(load.goes_on(writes_of_peace, settle_limit));
  const auto begin = clock_type::now();
  const auto limit = std::max(peace_limit, 10 * since(started));
  std::chrono::milliseconds longest{0};
  bool are_well = true;
  while (are_well && clock_type::now() < begin + time) {
    const auto name = faults.next();
    const auto over = clock_type::now();
    INFO("after " << name);
    // What was answered until here is checked in any case.
    CHECK(faults.problems() == std::vector<std::string>{});
    const bool goes_on = load.goes_on(writes_of_peace, limit);
    CHECK(goes_on);
    are_well = goes_on && faults.problems().empty();
    if (!are_well) std::cout << describe(cluster);
    longest = std::max(longest, since(over));
    std::cout << fmt::format("planes: {} s: {}; as before {} ms later\n", since(begin) / 1s, name,
                             since(over).count())
              << std::flush;
  }
  const auto found = collect(cluster, load, are_well);
  CHECK(std::any_of(found.watches.begin(), found.watches.end(),
                    [](const watch_span& each) { return !each.events.empty(); }));
  std::size_t terms = 0;
  for (const auto& step : found.history)
    for (const auto& each : step.changes)
      terms += each.key == persistence::leader_key && each.value ? 1 : 0;
  CHECK(terms > 0);
  std::cout
      << fmt::format(
             "planes: seed {}, {} s: {} revisions, {} terms; {}; longest until {} writes were "
             "done again: {} ms\n",
             seed, since(begin) / 1s, found.history.size(), terms, load.summary(), writes_of_peace,
             longest.count())
      << std::flush;
  const auto& times = faults.hand_overs();
  if (!times.empty())
    std::cout << fmt::format("planes: {} leaders killed, another one led after {} ms at most\n",
                             times.size(), std::max_element(times.begin(), times.end())->count());
  CHECK(faults.late_hand_overs() == std::vector<std::string>{});
  for (const auto& [name, count] : faults.counts())
    std::cout << fmt::format("planes: {} x {}\n", count, name);
  std::cout << (filter.empty() ? std::string{"planes: all kinds of faults\n"}
                               : fmt::format("planes: only faults of \"{}\"\n", filter))
            << std::flush;
  CHECK(load.problems() == std::vector<std::string>{});
  CHECK(evaluate(found) == std::vector<std::string>{});
}

std::chrono::seconds seconds_of(const char* variable, std::chrono::seconds usual) {
  const char* text = std::getenv(variable);
  return text == nullptr ? usual : std::chrono::seconds{std::atoi(text)};
}

bool possible() {
  if (!network_space::possible()) return false;
  const auto reason = plane_cluster::missing();
  if (!reason.empty()) skip(reason);
  return reason.empty();
}

}  // namespace

TEST_CASE("what three control planes tell while all fails is what etcd has",
          "[etcd][network][planes]") {
  if (!possible()) return;
  for_each_seed(1, [](std::uint64_t seed) { run(seed, 15s); });
}

// TROUPE_PLANES_SECONDS: duration for each seed. TROUPE_PLANES_FAULTS: the kinds of faults.
TEST_CASE("what three control planes tell is what etcd has, for long", "[.long][planes_faults]") {
  if (!possible()) return;
  for_each_seed(1,
                [](std::uint64_t seed) { run(seed, seconds_of("TROUPE_PLANES_SECONDS", 600s)); });
}
