// The guarantees of every store (store.hpp), and only those: on the local one, in memory and on
// disk, and on stores whose newest state is remote: one with exactly the guarantees, and the one
// over a shared log.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <random>

#include "persistence/engine/memory_engine.hpp"
#include "persistence/fixture.hpp"
#include "persistence/model_log.hpp"
#include "persistence/replica/based_log.hpp"
#include "persistence/replica/replicated_store.hpp"
#include "support/remote_store.hpp"

namespace troupe::persistence::testing {
namespace {

constexpr int seeds = 20;

// Runs the rest of a test case once on each.
struct any_store {
  scratch_directory place;
  model_cluster cluster;
  std::unique_ptr<store> made;
  test::remote_store* far = nullptr;  // null: another store

  explicit any_store(std::uint64_t seed = 1, double foreign = 0.2) {
    const auto choice = GENERATE(0, 1, 2, 3);
    if (choice == 3) {
      made = open_replicated(seed);
      return;
    }
    if (choice == 2) {
      auto elsewhere = std::make_unique<test::remote_store>(
          test::remote_store_options{.seed = seed, .foreign = foreign});
      far = elsewhere.get();
      made = std::move(elsewhere);
      return;
    }
    store_options options;
    if (choice == 1) options.directory = place.path();
    made = open(std::move(options));
  }
  std::unique_ptr<store> open_replicated(std::uint64_t seed) {
    const model_faults faults{.seed = seed, .lost = 0.1, .cut = 0.05};
    auto opened = replicated_store::open(
        {}, memory_engine_on(std::make_shared<memory_disk>()),
        std::make_unique<based_log>(std::make_unique<model_log>(cluster, faults), 1000), "model",
        "session");
    REQUIRE(opened);
    reach(**opened);
    return std::move(*opened);
  }
  store& operator*() const { return *made; }
  store* operator->() const { return made.get(); }
};

revision modified(const snapshot& state, const std::string& name) {
  const auto found = state.find(key_of(name));
  return found ? found->revision() : 0;
}

std::vector<std::uint32_t> sizes_of(const std::vector<change>& changes) {
  std::vector<std::uint32_t> sizes;
  for (const auto& each : changes)
    if (each.type != change_type::removed) sizes.push_back(each.stored_bytes);
  return sizes;
}

// Sees all changes and records violations. Owned by the thread that observes.
class witness {
 public:
  explicit witness(store& watched) : store_{watched}, last_{watched.read().at()} {
    store_.observe([this](revision after, const change_batch& batch) { look(after, *batch); });
  }
  ~witness() {
    store_.observe([](auto, const auto&) {});
  }

  std::vector<std::string> problems() const {
    const std::lock_guard lock{mutex_};
    return problems_;
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock{mutex_};
    return lines_of(seen_);
  }
  std::vector<std::uint32_t> sizes() const {
    const std::lock_guard lock{mutex_};
    return sizes_of(seen_);
  }
  std::vector<std::string> state() const {
    const std::lock_guard lock{mutex_};
    std::vector<std::string> all;
    for (const auto& [key, object] : folded_)
      all.push_back(fmt::format("{}={}@{}", key.substr(key.rfind('/') + 1), value_of(object),
                                object->revision()));
    return all;
  }
  bool saw(revision at, const std::string& key) const {
    const std::lock_guard lock{mutex_};
    return std::any_of(seen_.begin(), seen_.end(),
                       [&](const change& each) { return each.at == at && each.key == key; });
  }

 private:
  void look(revision after, const std::vector<change>& batch) {
    const std::lock_guard lock{mutex_};
    must(!batch.empty(), after, "the batch is empty");
    must(after == last_, after, "it does not begin where the one before ended");
    for (const auto& each : batch) {
      must(each.at > after && each.at >= last_, each.at, "revisions do not grow");
      must(each.object && each.object->revision() == each.at, each.at, "the object's revision");
      const auto known = folded_.find(each.key);
      const auto before = known == folded_.end() ? nullptr : known->second;
      must(each.stored_bytes > 0, each.at, "its size");
      must(!before || before->revision() < each.at, each.at, "a key twice at one revision");
      must((before == nullptr) == (each.type == change_type::created), each.at, "its type");
      must(before == each.previous ||
               (before && each.previous && before->revision() == each.previous->revision()),
           each.at, "its previous state");
      if (each.type == change_type::removed)
        folded_.erase(each.key);
      else
        folded_[each.key] = each.object;
      last_ = each.at;
      seen_.push_back(each);
    }
    must(store_.read().at() == last_, last_, "it is not visible when it is told");
  }

  void must(bool holds, revision at, const std::string& rule) {
    if (!holds) problems_.push_back(fmt::format("at {}: {}", at, rule));
  }

  store& store_;
  mutable std::mutex mutex_;
  revision last_;
  std::map<std::string, api::object_ptr> folded_;
  std::vector<change> seen_;
  std::vector<std::string> problems_;
};

// Concurrent random transactions on readable objects, and the conditions for their responses.
class load {
 public:
  load(store& to, test::remote_store* far, witness& seen, std::uint64_t seed)
      : store_{to}, far_{far}, seen_{seen}, random_{seed} {}

  void run(int transactions) {
    for (int i = 0; i < transactions; ++i) {
      if (far_ != nullptr && random_() % 5 == 0)
        static_cast<void>(far_->elsewhere(just(put(name(), "elsewhere"))));
      submit(next(std::to_string(i)));
      if (random_() % 40 == 0) reach(store_);
    }
    reach(store_);
  }

  int answered() const { return answered_; }
  std::vector<std::string> problems() const {
    const std::lock_guard lock{mutex_};
    return problems_;
  }

 private:
  std::string name() { return "k" + std::to_string(random_() % 8); }

  transaction next(const std::string& value) {
    const auto state = store_.read();
    const auto chosen = name();
    switch (random_() % 5) {
      case 0:
        return only_if(0, put(chosen, value));
      case 1:
        return only_if(modified(state, chosen), put(chosen, value));
      case 2:
        return only_if(modified(state, chosen), remove(chosen));
      case 3:
        return just(put(chosen, value));
      default:
        break;
    }
    transaction several;
    for (const auto* each : {"k1", "k3", "k5"})
      several.mutations.push_back(random_() % 3 == 0 ? remove(each) : put(each, value));
    return several;
  }

  void submit(transaction request) {
    std::vector<std::string> keys;
    for (const auto& each : request.mutations)
      keys.push_back(each.key);
    const auto demanded =
        request.preconditions.empty() ? precondition{} : request.preconditions.front();
    store_.submit(std::move(request), [this, keys, demanded](const outcome& result) {
      const auto state = store_.read();
      if (result)
        take(*result, keys, state);
      else
        refuse(result.error(), demanded, state);
      ++answered_;
    });
  }

  void take(const committed& made, const std::vector<std::string>& keys, const snapshot& state) {
    must(state.at() >= made.at, "an answer runs ahead of what can be read");
    must(made.at >= newest_, "answers are not in the order of revisions");
    newest_ = made.at;
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (made.objects[i]) must(seen_.saw(made.at, keys[i]), "a change was not told before");
  }

  void refuse(const error& reason, const precondition& demanded, const snapshot& state) {
    must(reason.code == errc::conflict, reason.message);
    must(state.at() >= reason.actual, "a conflict runs ahead of what can be read");
    const auto found = state.find(demanded.key);
    if (demanded.at != 0)
      must(!found || found->revision() != demanded.at, "what it was in conflict with is not there");
  }

  void must(bool holds, const std::string& rule) {
    if (holds) return;
    const std::lock_guard lock{mutex_};
    problems_.push_back(rule);
  }

  store& store_;
  test::remote_store* const far_;
  witness& seen_;
  std::mt19937_64 random_;
  revision newest_ = 0;  // used by the thread that answers
  std::atomic<int> answered_{0};
  mutable std::mutex mutex_;
  std::vector<std::string> problems_;
};

}  // namespace

TEST_CASE("observers, responses, snapshots and the log are consistent", "[contract]") {
  const std::uint64_t seed = GENERATE(range(1, seeds + 1));
  INFO("seed " << seed);
  const captured_log log;
  any_store store{seed};
  const auto begin = store->read().at();
  witness seen{*store};
  load clients{*store, store.far, seen, seed};
  clients.run(200);
  CHECK(clients.answered() == 200);
  CHECK(clients.problems() == std::vector<std::string>{});
  CHECK(seen.problems() == std::vector<std::string>{});
  CHECK(contents(store->read()) == seen.state());
  const auto all = store->changes(begin, 100'000);
  REQUIRE(all);
  CHECK(lines_of(*all) == seen.lines());
  CHECK(sizes_of(*all) == seen.sizes());
}

TEST_CASE("a barrier is passed when all that was submitted before is answered", "[contract]") {
  any_store store;
  std::atomic<int> answered{0};
  for (int round = 1; round <= 20; ++round) {
    for (int i = 0; i < 10; ++i)
      store->submit(just(put(std::to_string(i), std::to_string(round))),
                    [&](const outcome&) { ++answered; });
    std::atomic<int> before{0};
    const auto at = reach(*store, [&] { before = answered.load(); });
    CHECK(before == 10 * round);
    CHECK(at <= store->read().at());
    CHECK(value_of(store->read().find(key_of("9"))) == std::to_string(round));
  }
}

TEST_CASE("after a barrier a read shows earlier remote commits", "[contract]") {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    test::remote_store store{{.seed = seed}};
    for (int i = 0; i < 20; ++i) {
      const auto at = must(store.elsewhere(just(put("a", std::to_string(i)))));
      CHECK(reach(store) >= at);
      CHECK(value_of(store.read().find(key_of("a"))) == std::to_string(i));
    }
  }
}

TEST_CASE("a read before a barrier may be old", "[contract]") {
  // No thread advances it: nothing arrives by itself.
  test::remote_store store{{.threaded = false}};
  must(store.elsewhere(just(put("a", "1"))));
  CHECK(store.read().size() == 0);
  std::optional<outcome> result;
  store.submit(only_if(0, put("a", "2")), [&](outcome answer) { result = std::move(answer); });
  CHECK_FALSE(result);
  store.run();
  REQUIRE(result);
  CHECK(result->error().code == errc::conflict);
  CHECK(value_of(store.read().find(key_of("a"))) == "1");
}

TEST_CASE("a barrier takes no revision, and observers see nothing of it", "[contract]") {
  any_store store{1, 0};
  must(commit(*store, just(put("a", "1"))));
  const auto before = store->read().at();
  witness seen{*store};
  CHECK(reach(*store) == before);
  CHECK(store->read().at() == before);
  CHECK(seen.lines().empty());
}

TEST_CASE("a read after a conflict sees the revision that caused it", "[contract]") {
  any_store store{3, 0.5};
  must(commit(*store, just(put("a", "0"))));
  for (int i = 1; i <= 50; ++i) {
    revision known = 0;
    for (;;) {
      const auto fresh = modified(store->read(), "a");
      REQUIRE(fresh > known);
      known = fresh;
      if (commit(*store, only_if(known, put("a", std::to_string(i))))) break;
    }
  }
  CHECK(value_of(store->read().find(key_of("a"))) == "50");
}

TEST_CASE("the log returns whole revisions, however small the limit", "[contract]") {
  any_store store;
  const auto begin = store->read().at();
  for (int i = 0; i < 100; ++i)
    store->submit(just(put("k" + std::to_string(i % 10), std::to_string(i))),
                  [](const outcome&) {});
  reach(*store);
  const auto all = store->changes(begin, 1'000);
  REQUIRE(all);
  for (std::size_t limit = 1; limit <= 4; ++limit) {
    std::vector<std::string> parts;
    for (auto after = begin;;) {
      const auto part = store->changes(after, limit);
      REQUIRE(part);
      if (part->empty()) break;
      CHECK(part->front().at > after);
      const auto lines = lines_of(*part);
      parts.insert(parts.end(), lines.begin(), lines.end());
      after = part->back().at;
    }
    CHECK(parts == lines_of(*all));
  }
  CHECK(store->changes(store->read().at(), 1)->empty());
  CHECK(store->changes(store->read().at() + 1, 1).error().code == errc::future_revision);
}

TEST_CASE("history that was dropped is said to be so", "[contract]") {
  any_store store;
  for (int i = 0; i < 20; ++i)
    must(commit(*store, just(put("a", std::to_string(i)))));
  const auto middle = store->changes(store->read().at() - 1, 1);
  REQUIRE(middle);
  const auto before = store->read().at();
  must(commit(*store, just(put("a", "last"))));
  REQUIRE(store->compact(before));
  CHECK(store->changes(before - 1, 1).error().code == errc::compacted);
  const auto rest = store->changes(before, 10);
  REQUIRE(rest);
  REQUIRE_FALSE(rest->empty());
  CHECK(value_of(rest->back().object) == "last");
}

TEST_CASE("a state can be read again while it is pinned", "[contract]") {
  any_store store;
  must(commit(*store, just(put("a", "1"))));
  const auto then = store->read();
  store->pin(then);
  must(commit(*store, just(put("a", "2"))));
  const auto again = store->read_at(then.at());
  REQUIRE(again);
  CHECK(contents(*again) == contents(then));
  CHECK(store->read_at(store->read().at() + 1).error().code == errc::future_revision);
}

TEST_CASE("an earlier state is rebuilt from the history, as far as it reaches", "[contract]") {
  any_store store;
  std::map<revision, std::vector<std::string>> states;
  for (int i = 0; i < 60; ++i) {
    const auto name = std::to_string(i % 7);
    must(commit(*store, just(i % 5 == 0 ? remove(name) : put(name, std::to_string(i)))));
    states[store->read().at()] = contents(store->read());
  }
  const auto compacted = std::next(states.begin(), 20)->first;
  REQUIRE(store->compact(compacted));
  for (const auto& [at, wanted] : states) {
    const auto found = store->rebuild(at);
    REQUIRE(found.has_value() == (at >= compacted));
    if (!found) {
      CHECK(found.error().code == errc::compacted);
      continue;
    }
    CHECK(found->at() == at);
    CHECK(contents(*found) == wanted);
    CHECK(found->size() == wanted.size());
    CHECK(store->read_at(at));  // it is pinned
  }
  CHECK(store->rebuild(store->read().at() + 1).error().code == errc::future_revision);
}

TEST_CASE("a store in the distance leaves revisions out and lets transactions share them",
          "[contract]") {
  test::remote_store store{{.seed = 1, .foreign = 0, .threaded = false}};
  std::map<revision, int> taken;
  for (int i = 0; i < 200; ++i)
    store.submit(just(put(std::to_string(i), "1")),
                 [&](const outcome& result) { ++taken[result.value().at]; });
  store.run();
  CHECK(taken.size() < 190);
  CHECK(taken.rbegin()->first > 200);
}

}  // namespace troupe::persistence::testing
