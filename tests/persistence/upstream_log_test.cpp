// Objects in a shared log as kube-apiserver writes them.
#include "persistence/replica/upstream_log.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <random>

#include "api/schema/core_node.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "api/values/base64.hpp"
#include "build_paths.hpp"
#include "persistence/engine/memory_engine.hpp"
#include "persistence/fixture.hpp"
#include "persistence/model_log.hpp"
#include "persistence/move/directory_state.hpp"
#include "persistence/move/log_state.hpp"
#include "persistence/replica/adoption.hpp"
#include "persistence/replica/replicated_store.hpp"
#include "persistence/replica/upstream_keys.hpp"

namespace troupe::persistence::testing {

namespace {

struct upstream_place {
  model_cluster cluster;
  model_log raw{cluster, {}};
  blocking_log asked{raw, "the model", std::chrono::seconds{60}};

  // A store of a control plane that joins.
  std::unique_ptr<replicated_store> join(std::string member, upstream_target target = {}) {
    const auto record = join_cluster(asked);
    REQUIRE(record);
    std::unique_ptr<shared_log> log = std::make_unique<model_log>(cluster, model_faults{});
    if (record->upstream_layout) log = std::make_unique<upstream_log>(std::move(log), target);
    auto opened = replicated_store::open({}, memory_engine_on(std::make_shared<memory_disk>()),
                                         std::move(log), record->identity(), std::move(member));
    REQUIRE(opened);
    reach(**opened);
    return std::move(*opened);
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const auto& [key, value] : cluster.values())
      if (!key.starts_with(own_prefix)) all.push_back(key);
    return all;
  }
};

// tests/golden-1.20/README.md.
std::vector<std::pair<std::string, std::string>> golden_values() {
  std::ifstream file(std::string(TROUPE_SOURCE_DIR) + "/tests/golden-1.20/etcd.txt");
  std::vector<std::pair<std::string, std::string>> all;
  std::string key, text;
  while (file >> key >> text) {
    std::string value;
    REQUIRE_FALSE(api::append_from_base64(value, text));
    all.emplace_back(key, std::move(value));
  }
  REQUIRE(all.size() > 100);
  return all;
}

template <class Body>
mutation put_as(const std::string& ns, const std::string& name) {
  auto content = std::make_unique<Body>();
  content->mutable_metadata()->set_name(name);
  if (!ns.empty()) content->mutable_metadata()->set_namespace_(ns);
  const auto& kind = api::kind_of<Body>();
  return {kind.key(ns, name), &kind, std::move(content)};
}

// Keys before, inside and after each relevant prefix.
std::string random_key(std::mt19937_64& random) {
  static const std::vector<std::string> prefixes{"/registry/minions/",
                                                 "/registry/nodes/",
                                                 "/registry/services/specs/",
                                                 "/registry/services/",
                                                 "/registry/services/endpoints/",
                                                 "/registry/endpoints/",
                                                 "/registry/controllers/",
                                                 "/registry/replicationcontrollers/",
                                                 "/registry/ingress/",
                                                 "/registry/ingresses/",
                                                 "/registry/ingressclasses/",
                                                 "/registry/pods/",
                                                 "/registry/ranges/",
                                                 "/registry/a/",
                                                 "/a/",
                                                 "/registry/stable.example.com/crons/",
                                                 "/troupe/",
                                                 "compact_rev_key",
                                                 "/registry/services",
                                                 "/registry/services0",
                                                 "/z/"};
  return prefixes[random() % prefixes.size()] + std::to_string(random() % 1000);
}

}  // namespace

TEST_CASE("keys of moved kinds go to upstream's places and come back", "[upstream]") {
  const auto& keys = upstream_keys::instance();
  const std::vector<std::pair<std::string, std::string>> pairs{
      {"/registry/nodes/a", "/registry/minions/a"},
      {"/registry/services/default/a", "/registry/services/specs/default/a"},
      {"/registry/endpoints/default/a", "/registry/services/endpoints/default/a"},
      {"/registry/replicationcontrollers/n/a", "/registry/controllers/n/a"},
      {"/registry/ingresses/n/a", "/registry/ingress/n/a"},
      {"/registry/pods/n/a", "/registry/pods/n/a"},
      {"/registry/ranges/serviceips", "/registry/ranges/serviceips"},
      {"/troupe/leader", "/troupe/leader"},
      {"compact_rev_key", "compact_rev_key"}};
  for (const auto& [here, there] : pairs) {
    CAPTURE(here);
    CHECK(keys.to_log(here) == there);
    CHECK(keys.from_log(there) == here);
  }
  CHECK_FALSE(keys.from_log("/registry/nodes/a"));
  CHECK_FALSE(keys.from_log("/registry/services/default/a"));
  CHECK_FALSE(keys.from_log("/registry/endpoints/default/a"));
}

TEST_CASE("a listing has every key once, in our order, from any key on", "[upstream]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    model_cluster cluster;
    std::vector<std::string> wanted;
    const auto size = random() % 300;
    for (std::size_t i = 0; i < size; ++i)
      cluster.execute({{}, {{random_key(random), "v"}}});
    for (const auto& [key, value] : cluster.values())
      if (auto here = upstream_keys::instance().from_log(key)) wanted.push_back(std::move(*here));
    std::sort(wanted.begin(), wanted.end());
    model_log raw{cluster, {}};
    upstream_log mapped{raw, {}};
    blocking_log asked{mapped, "the model", std::chrono::seconds{60}};
    const bool keys_only = seed % 2 == 0;
    const auto list = [&](std::string after) {
      std::vector<std::string> found;
      for (bool more = true; more;) {
        const auto page = asked.list({after, 0, keys_only});
        REQUIRE(page);
        for (const auto& each : page->items) {
          found.push_back(each.key);
          CHECK(each.value == (keys_only ? "" : "v"));
        }
        more = page->more;
        REQUIRE((!more || !page->items.empty()));
        if (more) after = page->items.back().key;
      }
      return found;
    };
    CHECK(list({}) == wanted);
    for (int i = 0; i < 10 && !wanted.empty(); ++i) {
      const auto from = random() % wanted.size();
      CHECK(list(wanted[from]) ==
            std::vector<std::string>(wanted.begin() + static_cast<std::ptrdiff_t>(from) + 1,
                                     wanted.end()));
    }
  }
}

TEST_CASE("a new cluster stands in the log under upstream's keys", "[upstream][replica]") {
  const captured_log log;
  upstream_place place;
  const auto one = place.join("one"), other = place.join("other");
  must(commit(*one, only_if(0, put_as<api::core::v1::Node>({}, "n"))));
  must(commit(*one, only_if(0, put_as<api::core::v1::Service>("default", "s"))));
  const auto at = must(commit(*one, only_if(0, put_as<api::core::v1::Endpoints>("default", "s"))));
  CHECK(place.keys() == std::vector<std::string>{"/registry/minions/n",
                                                 "/registry/services/endpoints/default/s",
                                                 "/registry/services/specs/default/s"});
  CHECK(must(commit(*other, only_if(at, put_as<api::core::v1::Endpoints>("default", "s")))) > at);
  CHECK_FALSE(commit(*one, only_if(at, put_as<api::core::v1::Endpoints>("default", "s"))));
  reach(*one);
  CHECK(contents(one->read()) == contents(other->read()));
  CHECK(one->read().find("/registry/nodes/n") != nullptr);

  // One that starts by reading the whole state.
  const auto third = place.join("third");
  CHECK(contents(third->read()) == contents(one->read()));
}

TEST_CASE("foreign keys stay in the log and are steps without changes", "[upstream][replica]") {
  const captured_log log;
  upstream_place place;
  place.cluster.execute({{}, {{"/registry/nodes/n", "not one of ours"}}});
  place.cluster.execute({{}, {{"/registry/ranges/serviceips", "k8s"}}});
  const auto store = place.join("one");
  CHECK(contents(store->read()).empty());
  place.cluster.execute({{}, {{"/registry/services/n", "not one of ours"}}});
  must(commit(*store, just(put("a", "1"))));
  reach(*store);
  CHECK(contents(store->read()).size() == 1);
  CHECK(place.keys().size() == 4);
}

TEST_CASE("a log that an older troupe wrote is served as it is, and a copy of it moves the keys",
          "[upstream][replica][move]") {
  const captured_log log;
  const scratch_directory directory;
  upstream_place place;
  auto record = *join_cluster(place.asked);
  record.upstream_layout = false;
  place.cluster.execute({{}, {{std::string{cluster_key}, cluster_text(record)}}});
  {
    const auto store = place.join("one");
    must(commit(*store, just(put_as<api::core::v1::Node>({}, "n"))));
    CHECK(place.keys() == std::vector<std::string>{"/registry/nodes/n"});
  }
  const auto from = log_source::open(place.asked);
  REQUIRE(from);
  const auto to = directory_target::open(directory.path());
  REQUIRE(to);
  REQUIRE(copy_state(**from, **to, [](const copy_report&) {}));

  upstream_place next;
  const auto source = directory_source::open(directory.path());
  REQUIRE(source);
  log_target into{next.asked, {}, events_with_leases(std::chrono::hours{1})};
  REQUIRE(copy_state(**source, into, [](const copy_report&) {}));
  CHECK(next.keys() == std::vector<std::string>{"/registry/minions/n"});
  CHECK(next.join("one")->read().find("/registry/nodes/n") != nullptr);
  const auto back = log_source::open(next.asked);
  REQUIRE(back);
  const auto items = (*back)->next();
  REQUIRE(items);
  CHECK(items->front().key == "/registry/nodes/n");
}

const std::vector<std::string> service_ranges{"10.96.0.0/12"};

TEST_CASE("all objects of kube-apiserver 1.20 are served, and written back unchanged",
          "[upstream][replica]") {
  const captured_log log;
  upstream_place place;
  const auto golden = golden_values();
  for (const auto& [key, value] : golden)
    place.cluster.execute({{}, {{key, value}}});
  const auto found = examine(place.asked, service_ranges);
  REQUIRE(found);
  CHECK(found->objects + found->foreign_keys == golden.size());
  CHECK(found->foreign == std::map<std::string, std::size_t>{{"/registry/masterleases", 1},
                                                             {"/registry/podsecuritypolicy", 1},
                                                             {"/registry/ranges", 2}});
  CHECK(found->narrower_ranges == std::vector<std::string>{"10.99.0.0/16"});
  const auto store = place.join("one", {20});
  CHECK(store->read().size() == found->objects);

  // Writes each object again, as a control plane without changes would.
  std::size_t written = 0;
  std::vector<mutation> all;
  store->read().scan({}, {}, [&](std::string_view key, const api::object_ptr& object) {
    all.push_back({std::string{key}, &object->kind(), object->copy()});
    return true;
  });
  for (auto& each : all) {
    const auto at = store->read().find(each.key)->revision();
    must(commit(*store, only_if(at, std::move(each))));
  }
  const auto now = place.cluster.values();
  for (const auto& [key, value] : golden) {
    CAPTURE(key);
    CHECK(now.at(key) == value);
    ++written;
  }
  CHECK(written > 100);
}

TEST_CASE("an etcd whose Services have addresses of another range is refused by both ranges",
          "[upstream][replica]") {
  const captured_log log;
  upstream_place place;
  const std::string key = "/registry/ranges/serviceips";
  for (auto& [each, value] : golden_values())
    if (each == key) place.cluster.execute({{}, {{key, value}}});
  REQUIRE(place.cluster.find(key));
  CHECK(examine(place.asked, {"10.99.0.0/16"})->narrower_ranges.empty());
  const auto refused = examine(place.asked, {"10.32.0.0/12", "fd00::/112"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::invalid);
  CHECK_THAT(refused.error().message, Catch::Contains(key) && Catch::Contains("10.99.0.0/16") &&
                                          Catch::Contains("10.32.0.0/12, fd00::/112"));
  place.cluster.execute({{}, {{key, "not a range"}}});
  CHECK_FALSE(examine(place.asked, service_ranges));
  CHECK_FALSE(place.cluster.find(std::string{cluster_key}));
}

TEST_CASE("an etcd with encrypted values is refused by the names of provider and key",
          "[upstream][replica]") {
  const captured_log log;
  upstream_place place;
  place.cluster.execute({{}, {{"/registry/secrets/n/a", "k8s:enc:aescbc:v1:key1:xyz"}}});
  const auto found = examine(place.asked, service_ranges);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == errc::invalid);
  CHECK(found.error().message.find("provider aescbc, key key1") != std::string::npos);
  CHECK(place.keys().size() == 1);
  CHECK_FALSE(place.cluster.find(std::string{cluster_key}));
}

}  // namespace troupe::persistence::testing
