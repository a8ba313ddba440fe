// The common guarantees of lists and watches, under random changes from a seed.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "server/fixtures/rest_fixture.hpp"
#include "server/http/query.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using server::percent_encode;

namespace {

const std::string maps = "/api/v1/namespaces/default/configmaps";
using versions = std::map<std::string, std::string>;  // of objects, by name

versions versions_of(const rest_answer& list) {
  versions out;
  for (std::size_t i = 0; i < list.size("items"); ++i) {
    const auto item = fmt::format("items.{}.metadata.", i);
    out[list.at(item + "name")] = list.at(item + "resourceVersion");
  }
  return out;
}

// Creates, changes, relabels and deletes config maps, driven by its seed.
class meddler {
 public:
  meddler(rest_test& server, std::uint64_t seed) : server_{server}, random_{seed} {}

  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>{0, limit - 1}(random_);
  }

  void meddle() {
    const auto name = fmt::format("m{:02}", below(20));
    const auto color = below(2) == 0 ? "red" : "blue";
    switch (below(4)) {
      case 0:
        server_.remove(maps + "/" + name);
        break;
      case 1:
        server_.patch(maps + "/" + name, "merge",
                      fmt::format(R"({{"metadata":{{"labels":{{"color":"{}"}}}}}})", color));
        break;
      case 2:
        server_.patch(maps + "/" + name, "merge",
                      fmt::format(R"({{"data":{{"n":"{}"}}}})", ++count_));
        break;
      default:
        server_.post(
            maps, fmt::format(R"({{"metadata":{{"name":"{}","labels":{{"color":"{}"}}}}}})", name,
                              color));
    }
  }

 private:
  rest_test& server_;
  std::mt19937_64 random_;
  int count_ = 0;
};

// The state of a client that lists once and then applies the events of its watch.
class mirror {
 public:
  mirror(rest_test& server, std::string query) : server_{server}, query_{std::move(query)} {
    const auto list = server_.get(maps + query_);
    held_ = versions_of(list);
    at_ = list.at("metadata.resourceVersion");
    resume();
  }

  const versions& held() const noexcept { return held_; }

  // Opens another watch at the revision of the last event.
  void resume() {
    watch_.emplace(server_.where(),
                   maps + query_ + "&watch=1&allowWatchBookmarks=true&resourceVersion=" + at_);
  }

  // Applies one event; returns its type, empty if the watch has ended.
  std::string step() {
    const auto event = watch_->next();
    if (!event) return {};
    const auto type = event->at("type");
    const auto name = event->at("object.metadata.name");
    const auto version = event->at("object.metadata.resourceVersion");
    CHECK(std::stoull(version) >= std::stoull(at_));
    at_ = version;
    if (type == "ADDED") CHECK(held_.count(name) == 0);
    if (type == "MODIFIED" || type == "DELETED") CHECK(held_.count(name) == 1);
    if (type == "DELETED") held_.erase(name);
    if (type == "ADDED" || type == "MODIFIED") held_[name] = version;
    return type + " " + name;
  }

 private:
  rest_test& server_;
  const std::string query_;
  std::optional<watching> watch_;
  versions held_;
  std::string at_;
};

}  // namespace

TEST_CASE("pages put together are the list at the revision of the first, whatever happens") {
  const auto seed = GENERATE(range(1, 7));
  const std::string query = seed % 2 == 0 ? "?" : "?labelSelector=color%3Dred&";
  CAPTURE(seed);
  rest_test server;
  meddler others{server, static_cast<std::uint64_t>(seed)};
  for (int i = 0; i < 80; ++i)
    others.meddle();
  const auto complete = server.get(maps + query);
  const auto expected = versions_of(complete);
  versions found;
  std::string token;
  do {
    const auto page = server.get(fmt::format("{}{}limit={}&continue={}", maps, query,
                                             1 + others.below(6), percent_encode(token)));
    REQUIRE(page.status == 200);
    CHECK(page.at("metadata.resourceVersion") == complete.at("metadata.resourceVersion"));
    for (const auto& [name, version] : versions_of(page)) {
      // In order, without duplicates.
      CHECK((found.empty() || found.rbegin()->first < name));
      found[name] = version;
    }
    token = page.at("metadata.continue");
    if (seed % 2 == 0 && !token.empty())
      CHECK(page.at("metadata.remainingItemCount") ==
            std::to_string(expected.size() - found.size()));
    others.meddle();
    others.meddle();
  } while (!token.empty());
  CHECK(found == expected);
}

TEST_CASE("a list and the watch from its revision give the present state, also when cut off") {
  const auto seed = GENERATE(range(1, 7));
  const std::string query = seed % 2 == 0 ? "?" : "?labelSelector=color%3Dred";
  CAPTURE(seed);
  rest_test server;
  meddler others{server, static_cast<std::uint64_t>(seed)};
  for (int i = 0; i < 30; ++i)
    others.meddle();
  mirror client{server, query};
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 40; ++i)
      others.meddle();
    const auto mark = fmt::format("mark{}", round);
    server.post(maps,
                fmt::format(R"({{"metadata":{{"name":"{}","labels":{{"color":"red"}}}}}})", mark));
    auto left = others.below(30);  // the connection ends after this many events
    for (std::string event; event != "ADDED " + mark; --left) {
      event = client.step();
      REQUIRE_FALSE(event.empty());
      if (left == 0) client.resume();
    }
    CHECK(client.held() == versions_of(server.get(maps + query)));
  }
}

TEST_CASE("resourceVersionMatch follows upstream's table") {
  rest_test server;
  server.post(maps, R"({"metadata":{"name":"a"}})");
  const auto first = server.get(maps).at("metadata.resourceVersion");
  server.post(maps, R"({"metadata":{"name":"b"}})");
  const auto old = server.get(maps + "?limit=1").at("metadata.resourceVersion");
  server.post(maps, R"({"metadata":{"name":"c"}})");
  const auto now = server.get(maps).at("metadata.resourceVersion");
  const auto future = std::to_string(std::stoull(now) + 100);
  const auto items = [&](const std::string& query) {
    const auto list = server.get(maps + "?" + query);
    CAPTURE(query, list.text());
    CHECK(list.status == 200);
    return list.size("items");
  };
  CHECK(items("") == 3);
  CHECK(items("resourceVersion=0") == 3);
  CHECK(items("resourceVersion=" + old) == 3);
  CHECK(items("resourceVersion=" + now) == 3);
  // For pages the revision is exact, unless the client asks otherwise.
  CHECK(items("limit=9&resourceVersion=" + old) == 2);
  CHECK(items("limit=9&resourceVersion=" + first) == 1);
  CHECK(items("limit=9&resourceVersion=0") == 3);
  CHECK(items("limit=9&resourceVersion=" + old + "&resourceVersionMatch=NotOlderThan") == 3);
  CHECK(items("resourceVersion=0&resourceVersionMatch=NotOlderThan") == 3);
  CHECK(items("resourceVersion=" + old + "&resourceVersionMatch=NotOlderThan") == 3);
  CHECK(items("resourceVersion=" + old + "&resourceVersionMatch=Exact") == 2);
  CHECK(items("resourceVersion=" + now + "&resourceVersionMatch=Exact") == 3);
  const auto exact = server.get(maps + "?resourceVersion=" + old + "&resourceVersionMatch=Exact");
  CHECK(exact.at("metadata.resourceVersion") == old);

  const auto status = [&](const std::string& query) {
    return server.get(maps + "?" + query).status;
  };
  CHECK(items("resourceVersion=" + first + "&resourceVersionMatch=Exact") == 1);
  CHECK(status("resourceVersion=" + future) == 504);
  CHECK(status("resourceVersion=" + future + "&resourceVersionMatch=Exact") == 504);
  CHECK(status("resourceVersion=0&resourceVersionMatch=Exact") == 422);
  CHECK(status("resourceVersionMatch=NotOlderThan") == 422);
  CHECK(status("resourceVersion=" + now + "&resourceVersionMatch=Sometimes") == 422);
  CHECK(status("watch=1&resourceVersion=" + now + "&resourceVersionMatch=NotOlderThan") == 422);
  const std::string initial = "watch=1&timeoutSeconds=1&sendInitialEvents=true&";
  CHECK(status(initial + "resourceVersionMatch=NotOlderThan&resourceVersion=" + now) == 200);
  CHECK(status(initial + "resourceVersionMatch=NotOlderThan&resourceVersion=" + future) == 504);
  const auto page = server.get(maps + "?limit=1");
  const auto token = percent_encode(page.at("metadata.continue"));
  CHECK(status("continue=" + token + "&resourceVersion=" + now) == 400);
  CHECK(status("continue=" + token + "&resourceVersion=0") == 200);
  CHECK(status("continue=" + token + "&resourceVersion=" + now + "&resourceVersionMatch=Exact") ==
        422);
}

TEST_CASE("bookmarks carry only a revision, and are sent only on request") {
  rest_test server;
  server.post(maps, R"({"metadata":{"name":"a","labels":{"x":"y"}}})");
  const auto from = server.get(maps).at("metadata.resourceVersion");
  const auto path = maps + "?watch=1&timeoutSeconds=1&resourceVersion=" + from;
  watching without{server.where(), path};
  watching with{server.where(), path + "&allowWatchBookmarks=true"};
  const auto mark = with.next();
  REQUIRE(mark);
  CHECK(mark->at("type") == "BOOKMARK");
  CHECK(mark->at("object.kind") == "ConfigMap");
  CHECK(mark->at("object.apiVersion") == "v1");
  CHECK_FALSE(mark->has("object.metadata.name"));
  CHECK_FALSE(with.next());
  CHECK_FALSE(without.next());
}
