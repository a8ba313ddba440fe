// The index that finds the owners whose selectors may match an object.
#include "actors/controllers/kit/selector_index.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

namespace {

api::label_selector parse(const std::string& text) {
  return api::label_selector::parse(text).value();
}

api::label_map labels_of(const std::map<std::string, std::string>& from) {
  api::label_map labels;
  for (const auto& [key, value] : from)
    labels[key] = value;
  return labels;
}

std::vector<int> candidates(const selector_index<int>& index, std::string_view ns,
                            const api::label_map& labels) {
  std::vector<int> found;
  index.each_candidate(ns, labels, [&](int owner) { found.push_back(owner); });
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

TEST_CASE("only owners that demand a label of the object are candidates", "[controllers]") {
  selector_index<int> index;
  for (int i = 0; i < 1'000; ++i)
    index.put("default", parse("app=a" + std::to_string(i)), i);
  index.put("other", parse("app=a7"), 1'001);
  CHECK(candidates(index, "default", labels_of({{"app", "a7"}})) == std::vector{7});
  CHECK(candidates(index, "other", labels_of({{"app", "a7"}})) == std::vector{1'001});
  CHECK(candidates(index, "default", labels_of({{"app", "b"}})).empty());
  CHECK(candidates(index, "default", labels_of({})).empty());
}

TEST_CASE("owners that demand no certain label are candidates for all of their namespace",
          "[controllers]") {
  selector_index<int> index;
  index.put("default", parse("app in (a,b)"), 1);
  index.put("default", parse("!app"), 2);
  index.put("default", parse(""), 3);
  CHECK(index.put("default", api::label_selector::nothing(), 4) == nullptr);
  CHECK(candidates(index, "default", labels_of({{"app", "c"}})) == std::vector{1, 2, 3});
  CHECK(candidates(index, "other", labels_of({{"app", "a"}})).empty());
}

TEST_CASE("owners that share one label are distinguished by another", "[controllers]") {
  selector_index<int> index;
  for (int i = 0; i < 100; ++i)
    index.put("default", parse("app=web,hash=h" + std::to_string(i)), i);
  const auto found = candidates(index, "default", labels_of({{"app", "web"}, {"hash", "h5"}}));
  // The first was added before any selector.
  CHECK(found == std::vector{0, 5});
}

TEST_CASE("the index finds every owner that a scan of all owners finds", "[controllers]") {
  std::mt19937_64 random{1};
  const auto pick = [&](std::size_t below) { return random() % below; };
  const std::vector<std::string> terms{"a=1", "a=2",        "b=1", "b!=1",       "a",
                                       "!b",  "a in (1,2)", "c=1", "b notin (2)"};
  struct owner {
    std::string ns;
    api::label_selector selector;
    selector_index<int>::place at;
  };
  selector_index<int> index;
  std::map<int, owner> owners;
  for (int round = 0; round < 3'000; ++round) {
    const auto ns = "n" + std::to_string(pick(2));
    if (pick(3) == 0 && !owners.empty()) {
      const auto victim = std::next(owners.begin(), static_cast<long>(pick(owners.size())));
      index.remove(victim->second.at, victim->first);
      owners.erase(victim);
    } else if (owners.size() < 60) {
      std::string text;
      for (auto left = pick(4); left > 0; --left)
        text += (text.empty() ? "" : ",") + terms[pick(terms.size())];
      const auto selector = parse(text);
      owners[round] = {ns, selector, index.put(ns, selector, round)};
    }
    std::map<std::string, std::string> labels;
    for (const char* key : {"a", "b", "c"})
      if (pick(2) == 0) labels[key] = std::to_string(1 + pick(2));
    const auto given = labels_of(labels);
    std::vector<int> expected;
    for (const auto& [id, each] : owners)
      if (each.ns == ns && each.selector.matches(given)) expected.push_back(id);
    auto found = candidates(index, ns, given);
    std::erase_if(found, [&](int id) { return !owners.at(id).selector.matches(given); });
    REQUIRE(found == expected);
  }
}

}  // namespace troupe::actors
