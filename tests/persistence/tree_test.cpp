#include "persistence/tree/tree.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

#include "api/scheme.hpp"
#include "persistence/fixture.hpp"
#include "persistence/tree/snapshot.hpp"

namespace troupe::persistence {
namespace {

using model = std::map<std::string, std::uint64_t>;

api::object_ptr object_at(revision at) {
  static const auto& kind = api::kind_of<api::core::v1::ConfigMap>();
  return std::make_shared<const api::object>(kind, kind.make(), at);
}

model read_all(const snapshot& state, std::string_view prefix = "", std::string_view after = "") {
  model found;
  std::string last;
  state.scan(prefix, after, [&](std::string_view key, const api::object_ptr& object) {
    CHECK((last.empty() || last < key));
    last = key;
    found.emplace(key, object->revision());
    return true;
  });
  return found;
}

model part_of(const model& all, const std::string& prefix, const std::string& after) {
  model part;
  for (const auto& [key, at] : all)
    if (key.starts_with(prefix) && (after.empty() || key > after)) part.emplace(key, at);
  return part;
}

// Every node but the root has enough entries, bounds and counts are right, leaves are equally deep.
int check_shape(const node& n, std::string_view low, std::string_view high, bool is_root) {
  CHECK(n.size <= node::capacity);
  if (n.is_leaf) {
    for (std::size_t i = 0; i < n.size; ++i) {
      CHECK(as_leaf(n).items[i]->key() >= low);
      CHECK((high.empty() || as_leaf(n).items[i]->key() < high));
    }
    return 1;
  }
  const auto& inner = as_inner(n);
  CHECK(n.size >= (is_root ? 2 : node::low_water));
  int depth = 0;
  for (std::size_t i = 0; i < n.size; ++i) {
    const auto& branch = inner.items[i];
    CHECK(branch.count == count_of(*branch.child));
    if (i > 0) CHECK(branch.low->object() == nullptr);
    const auto from = i == 0 ? low : branch.low->key();
    const auto to = i + 1 < n.size ? inner.items[i + 1].low->key() : high;
    const int below = check_shape(*branch.child, from, to, false);
    CHECK((depth == 0 || depth == below));
    depth = below;
  }
  return depth + 1;
}

// Keys of several lengths and prefixes, with few collisions or many.
std::string random_key(std::mt19937_64& random, std::uint64_t range) {
  static const char* const prefixes[] = {"/a/", "/a/b/", "/ab/", "/registry/pods/default/",
                                         "",    "\xff"};
  return prefixes[random() % 6] + std::to_string(random() % range);
}

struct kept {
  model wanted;
  std::shared_ptr<const tree_root> root;
};

void check_same(const kept& k, std::mt19937_64& random) {
  const snapshot state{k.root, k.root->at()};
  REQUIRE(read_all(state) == k.wanted);
  REQUIRE(state.size() == k.wanted.size());
  for (int i = 0; i < 10; ++i) {
    const auto key = random_key(random, 300);
    const auto prefix = key.substr(0, random() % (key.size() + 1));
    const auto found = state.find(key);
    REQUIRE((found != nullptr) == k.wanted.contains(key));
    if (found) REQUIRE(found->revision() == k.wanted.at(key));
    REQUIRE(state.count(prefix) == part_of(k.wanted, prefix, "").size());
    REQUIRE(read_all(state, prefix, key) == part_of(k.wanted, prefix, key));
  }
}

TEST_CASE("the tree agrees with a map through random edits, and old roots never change") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random{seed};
    const std::uint64_t range = seed % 3 == 0 ? 40 : 2'000;
    model wanted;
    tree_edit edit{*tree_root::empty(0)};
    std::vector<kept> old;
    revision at = 0;
    for (int batch = 0; batch < 40; ++batch) {
      // Grows, then shrinks to empty, then grows again.
      const bool shrinking = batch >= 15 && batch < 30;
      for (int i = 0; i < 60; ++i) {
        const auto key = random_key(random, range);
        ++at;
        if (random() % 10 < (shrinking ? 8u : 3u)) {
          const auto victim = shrinking ? wanted.lower_bound(key) : wanted.find(key);
          const auto name = victim == wanted.end() ? key : victim->first;
          REQUIRE(edit.remove(name) == (wanted.erase(name) == 1));
        } else {
          edit.put(key, object_at(at), at);
          wanted[key] = at;
        }
      }
      old.push_back({wanted, edit.freeze(at)});
      check_shape(*old.back().root->top(), "", "", true);
      check_same(old.back(), random);
    }
    for (const auto& each : old)
      check_same(each, random);
  }
}

TEST_CASE("an edit that is thrown away leaves no trace") {
  tree_edit first{*tree_root::empty(0)};
  for (int i = 0; i < 500; ++i)
    first.put(std::to_string(i), object_at(1), 1);
  const auto root = first.freeze(1);
  const auto before = read_all({root, 1});
  {
    tree_edit second{*root};
    for (int i = 0; i < 500; i += 2)
      second.remove(std::to_string(i));
    for (int i = 0; i < 500; ++i)
      second.put("x" + std::to_string(i), object_at(2), 2);
  }
  CHECK(read_all({root, 1}) == before);
}

TEST_CASE("keys that come in ascending order fill their leaves") {
  tree_edit edit{*tree_root::empty(0)};
  for (int i = 0; i < 32 * 32; ++i)
    edit.put(std::to_string(100'000 + i), object_at(1), 1);
  const auto root = edit.freeze(1);
  CHECK(check_shape(*root->top(), "", "", true) == 2);
  std::size_t leaves = 0;
  const std::function<void(const node&)> count = [&](const node& n) {
    if (n.is_leaf) ++leaves;
    for (std::size_t i = 0; !n.is_leaf && i < n.size; ++i)
      count(*as_inner(n).items[i].child);
  };
  count(*root->top());
  CHECK(leaves == 32);
}

TEST_CASE("a removed object is freed although a bound of the tree still has its key") {
  tree_edit edit{*tree_root::empty(0)};
  std::vector<std::weak_ptr<const api::object>> alive;
  for (int i = 0; i < 200; ++i) {
    auto object = object_at(1);
    alive.push_back(object);
    edit.put(std::to_string(1000 + i), std::move(object), 1);
  }
  for (int i = 0; i < 200; ++i) {
    edit.remove(std::to_string(1000 + i));
    CHECK(alive[static_cast<std::size_t>(i)].expired());
  }
  CHECK(edit.size() == 0);
}

TEST_CASE("a scan of a tree ends when its visitor returns false") {
  tree_edit edit{*tree_root::empty(0)};
  for (int i = 0; i < 300; ++i)
    edit.put(std::to_string(1000 + i), object_at(1), 1);
  const auto root = edit.freeze(1);
  int seen = 0;
  snapshot{root, 1}.scan("1", "1049", [&](std::string_view key, const api::object_ptr&) {
    if (seen == 0) CHECK(key == "1050");
    return ++seen < 100;
  });
  CHECK(seen == 100);
}

}  // namespace
}  // namespace troupe::persistence
