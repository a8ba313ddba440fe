// The contract of store.hpp, on both engines.
#include "persistence/store/store.hpp"

#include <spdlog/fmt/fmt.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "persistence/defaults.hpp"
#include "persistence/fixture.hpp"

namespace troupe::persistence::testing {
namespace {

// Runs the rest of a test case once in memory and once on disk.
struct any_store {
  scratch_directory place;
  std::unique_ptr<store> made;

  any_store() {
    store_options options;
    if (GENERATE(false, true)) options.directory = place.path();
    made = open(std::move(options));
  }
  store& operator*() const { return *made; }
  store* operator->() const { return made.get(); }
};

TEST_CASE("an empty store is at the first revision, which is not zero") {
  any_store store;
  CHECK(store->read().at() == defaults::first_revision);
  CHECK(store->read().size() == 0);
  CHECK(store->changes(defaults::first_revision, 10)->empty());
  CHECK(store->cluster_id().size() == 36);
}

TEST_CASE("a committed object can be read, with its revision as resourceVersion") {
  any_store store;
  const auto done = commit(*store, just(put("a", "1")));
  CHECK(must(done) == defaults::first_revision + 1);
  REQUIRE(done->objects.size() == 1);
  const auto found = store->read().find(key_of("a"));
  CHECK(found == done->objects[0]);
  CHECK(value_of(found) == "1");
  CHECK(found->meta().resource_version() == std::to_string(done->at));
  CHECK(store->read().find(key_of("b")) == nullptr);
}

TEST_CASE("every transaction gets the next revision, whatever it changes") {
  any_store store;
  const auto first = must(commit(*store, just(put("a", "1"))));
  CHECK(must(commit(*store, just(put("a", "2")))) == first + 1);
  transaction both;
  both.mutations.push_back(put("b", "1"));
  both.mutations.push_back(put("c", "1"));
  both.mutations.push_back(remove("a"));
  CHECK(must(commit(*store, std::move(both))) == first + 2);
  CHECK(must(commit(*store, just(put("d", "1")))) == first + 3);
  const auto at = [&](revision r) { return "@" + std::to_string(r); };
  CHECK(contents(store->read()) == std::vector<std::string>{"b=1" + at(first + 2),
                                                            "c=1" + at(first + 2),
                                                            "d=1" + at(first + 3)});
}

TEST_CASE("a precondition that does not hold is a conflict that names key and revision") {
  any_store store;
  const auto at = must(commit(*store, only_if(0, put("a", "1"))));
  const auto exists = commit(*store, only_if(0, put("a", "2")));
  REQUIRE_FALSE(exists);
  CHECK(exists.error().code == errc::conflict);
  CHECK(exists.error().key == key_of("a"));
  CHECK(exists.error().actual == at);
  const auto absent = commit(*store, only_if(at, put("b", "2")));
  REQUIRE_FALSE(absent);
  CHECK(absent.error().actual == 0);
  CHECK(must(commit(*store, only_if(at, put("a", "2")))) == at + 1);
  const auto stale = commit(*store, only_if(at, put("a", "3")));
  REQUIRE_FALSE(stale);
  CHECK(stale.error().actual == at + 1);
  CHECK(value_of(store->read().find(key_of("a"))) == "2");
  CHECK(store->stats().conflicts == 3);
}

TEST_CASE("one precondition that fails undoes the whole transaction") {
  any_store store;
  must(commit(*store, just(put("a", "1"))));
  const auto before = store->read();
  transaction both;
  both.preconditions = {{key_of("b"), 0}, {key_of("a"), 0}};
  both.mutations.push_back(put("b", "1"));
  both.mutations.push_back(remove("a"));
  CHECK_FALSE(commit(*store, std::move(both)));
  CHECK(contents(store->read()) == contents(before));
  CHECK(store->read().at() == before.at());
}

TEST_CASE("a removal answers with the last state, stamped with its own revision") {
  any_store store;
  const auto made = commit(*store, just(put("a", "1")));
  const auto gone = commit(*store, only_if(made->at, remove("a")));
  CHECK(must(gone) == made->at + 1);
  CHECK(value_of(gone->objects[0]) == "1");
  CHECK(gone->objects[0]->revision() == gone->at);
  CHECK(made->objects[0]->revision() == made->at);
  CHECK(store->read().size() == 0);
}

TEST_CASE("a transaction that changes nothing takes no revision") {
  any_store store;
  const auto at = must(commit(*store, just(put("a", "1"))));
  const auto nothing = commit(*store, just(remove("b")));
  CHECK(must(nothing) == at);
  CHECK(nothing->objects == std::vector<api::object_ptr>{nullptr});
  transaction question;
  question.preconditions = {{key_of("a"), at}};
  CHECK(must(commit(*store, std::move(question))) == at);
  const auto wrong = commit(*store, only_if(at + 5, remove("b")));
  CHECK_FALSE(wrong);
  CHECK(store->read().at() == at);
}

TEST_CASE("an invalid transaction is refused before submit returns") {
  store_options options;
  options.value_limit_bytes = 4'096;
  const auto store = open(options);
  const auto refusal = [&](transaction request) {
    std::optional<outcome> answer;
    store->submit(std::move(request), [&](outcome result) { answer = std::move(result); });
    REQUIRE(answer);
    REQUIRE_FALSE(*answer);
    return answer->error();
  };
  transaction twice;
  twice.mutations.push_back(put("a", "1"));
  twice.mutations.push_back(remove("a"));
  CHECK(refusal(std::move(twice)).code == errc::invalid);
  auto nameless = put("a", "1");
  nameless.key.clear();
  CHECK(refusal(just(std::move(nameless))).code == errc::invalid);
  auto kindless = put("a", "1");
  kindless.kind = nullptr;
  CHECK(refusal(just(std::move(kindless))).code == errc::invalid);
  const auto large = refusal(just(put("a", "1", 5'000)));
  CHECK(large.code == errc::too_large);
  CHECK_THAT(large.message, Catch::Contains(key_of("a")) && Catch::Contains("4096"));
  CHECK(store->read().size() == 0);
}

TEST_CASE("of two updates from one revision exactly one wins") {
  any_store store;
  auto at = must(commit(*store, just(put("a", "0"))));
  for (int round = 0; round < 50; ++round) {
    std::promise<outcome> answers[2];
    std::thread threads[2];
    for (int i = 0; i < 2; ++i)
      threads[i] = std::thread{[&, i] {
        store->submit(only_if(at, put("a", std::to_string(i))),
                      [&, i](outcome result) { answers[i].set_value(std::move(result)); });
      }};
    for (auto& each : threads)
      each.join();
    const outcome results[] = {answers[0].get_future().get(), answers[1].get_future().get()};
    REQUIRE(results[0].has_value() != results[1].has_value());
    const auto& lost = results[0] ? results[1] : results[0];
    const auto winner = results[0] ? "0" : "1";
    at = must(results[0] ? results[0] : results[1]);
    CHECK(lost.error().code == errc::conflict);
    CHECK(value_of(store->read().find(key_of("a"))) == winner);
  }
}

TEST_CASE("the observer sees every change in order, before the submitters get their responses") {
  any_store store;
  // Owned by the commit threads, one at a time, until the last response.
  std::vector<std::string> seen;
  std::vector<revision> answered;
  revision newest = 0;
  bool visible_first = true, told_first = true;
  store->observe([&](revision, const change_batch& batch) {
    for (const auto& each : *batch) {
      seen.push_back(line_of(each));
      newest = each.at;
    }
    visible_first = visible_first && store->read().at() == newest;
  });
  const auto answer = [&](const outcome& result) {
    answered.push_back(result ? result->at : 0);
    told_first = told_first && newest >= answered.back();
  };
  store->submit(just(put("a", "1")), answer);
  store->submit(just(put("a", "2")), answer);
  must(commit(*store, just(put("b", "1"))));
  store->submit(just(remove("a")), answer);
  must(commit(*store, just(put("c", "1"))));
  CHECK(seen == std::vector<std::string>{"2 created a 1@2", "3 updated a 2@3 <- 1@2",
                                         "4 created b 1@4", "5 removed a 2@5 <- 2@3",
                                         "6 created c 1@6"});
  CHECK(answered == std::vector<revision>{2, 3, 5});
  CHECK(visible_first);
  CHECK(told_first);
}

TEST_CASE("an index takes each change before anybody sees it, and misses none") {
  any_store store;
  constexpr int writes = 200;
  std::thread writer{[&] {
    for (int i = 0; i < writes; ++i)
      must(commit(*store, just(put("k" + std::to_string(i), "1"))));
  }};
  revision loaded = 0;
  std::vector<revision> taken;
  bool early = true;
  store->observe({}, {.load = [&](const snapshot& state) { loaded = state.at(); },
                      .take =
                          [&](const std::vector<change>& changes) {
                            for (const auto& each : changes) {
                              taken.push_back(each.at);
                              early = early && store->read().at() < each.at;
                            }
                          }});
  writer.join();
  const auto last = store->read().at();
  store->observe({});  // no changes are recorded any more
  CHECK(early);
  REQUIRE(loaded + taken.size() == last);
  for (std::size_t i = 0; i < taken.size(); ++i)
    CHECK(taken[i] == loaded + i + 1);
}

TEST_CASE("a change carries its author, its cause and its time") {
  any_store store;
  auto request = just(put("a", "1"));
  request.cause = {17, 3, "replicationcontroller/web"};
  const auto before = std::chrono::system_clock::now();
  const auto at = must(commit(*store, std::move(request)));
  const auto found = store->changes(at - 1, 1);
  REQUIRE(found);
  const auto& cause = found->at(0).cause;
  CHECK(cause.request == 17);
  CHECK(cause.trigger == 3);
  CHECK(cause.author == "replicationcontroller/web");
  CHECK(found->at(0).time >= std::chrono::floor<std::chrono::microseconds>(before));
  CHECK(found->at(0).time <= std::chrono::system_clock::now());
}

TEST_CASE("a snapshot stays as it was while the store goes on") {
  any_store store;
  for (int i = 0; i < 100; ++i)
    must(commit(*store, just(put(std::to_string(i), "old"))));
  const auto before = store->read();
  const auto lines = contents(before);
  for (int i = 0; i < 100; i += 2)
    must(commit(*store, just(put(std::to_string(i), "new"))));
  for (int i = 1; i < 100; i += 2)
    must(commit(*store, just(remove(std::to_string(i)))));
  CHECK(contents(before) == lines);
  CHECK(before.count(key_of("")) == 100);
  CHECK(store->read().count(key_of("")) == 50);
}

TEST_CASE("readers beside a writer only ever see whole transactions") {
  any_store store;
  std::atomic<bool> stop{false}, torn{false}, back{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&] {
      revision newest = 0;
      while (!stop) {
        const auto state = store->read();
        if (state.at() < newest) back = true;
        newest = state.at();
        if (value_of(state.find(key_of("a"))) != value_of(state.find(key_of("b")))) torn = true;
      }
    });
  for (int i = 0; i < 300; ++i) {
    transaction both;
    both.mutations.push_back(put("a", std::to_string(i)));
    both.mutations.push_back(put("b", std::to_string(i)));
    must(commit(*store, std::move(both)));
  }
  stop = true;
  for (auto& each : readers)
    each.join();
  CHECK_FALSE(torn);
  CHECK_FALSE(back);
}

TEST_CASE("many submitters lose nothing and share no revision") {
  any_store store;
  constexpr int threads = 4, each_commits = 250;
  std::mutex mutex;
  std::set<revision> revisions;
  std::atomic<int> answered{0};
  // Nothing is committed until all is submitted: not each transaction may be a batch of its own.
  std::promise<void> submitted;
  store->submit(just(remove("none")),
                [all = submitted.get_future().share()](const outcome&) { all.wait(); });
  std::vector<std::thread> submitters;
  for (int t = 0; t < threads; ++t)
    submitters.emplace_back([&, t] {
      for (int i = 0; i < each_commits; ++i)
        store->submit(just(put(fmt::format("{}-{}", t, i), "1")), [&](const outcome& result) {
          std::lock_guard lock{mutex};
          if (result) revisions.insert(result->at);
          ++answered;
        });
    });
  for (auto& each : submitters)
    each.join();
  submitted.set_value();
  REQUIRE(eventually([&] { return answered == threads * each_commits; }));
  CHECK(revisions.size() == threads * each_commits);
  CHECK(store->read().size() == threads * each_commits);
  CHECK(store->stats().batches < threads * each_commits);
}

TEST_CASE("a full queue refuses at once and the store recovers from it") {
  store_options options;
  options.queue_limit = 3;
  const auto store = open(options);
  std::promise<void> release;
  std::promise<void> held;
  const auto released = release.get_future().share();
  store->submit(just(put("first", "1")), [&](const outcome&) {
    held.set_value();
    released.wait();
  });
  held.get_future().wait();
  std::atomic<int> done{0};
  const auto count = [&](const outcome& result) { done += result.has_value(); };
  for (int i = 0; i < 3; ++i)
    store->submit(just(put(std::to_string(i), "1")), count);
  CHECK(store->stats().queued == 3);
  const auto refused = commit(*store, just(put("4", "1")));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::overloaded);
  release.set_value();
  CHECK(eventually([&] { return done == 3; }));
  must(commit(*store, just(put("4", "1"))));
}

TEST_CASE("closing commits pending transactions") {
  scratch_directory place;
  std::atomic<int> done{0};
  {
    const auto store = open(in_directory(place.path()));
    for (int i = 0; i < 200; ++i)
      store->submit(just(put(std::to_string(i), "1")),
                    [&](const outcome& result) { done += result.has_value(); });
  }
  CHECK(done == 200);
  CHECK(open(in_directory(place.path()))->read().size() == 200);
}

// -- bounds ---------------------------------------------------------------------------------------

TEST_CASE("a bound is exact however many transactions meet it at once") {
  any_store store;
  const bound limit{bound::measure::objects, key_of(""), 100};
  std::atomic<int> made{0}, refused{0}, answered{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c)
    clients.emplace_back([&, c] {
      for (int i = 0; i < 50; ++i) {
        auto request = just(put("x" + std::to_string(c * 100 + i), "1"));
        request.bounds.push_back(limit);
        store->submit(std::move(request), [&](const outcome& result) {
          ++(result ? made : refused);
          if (!result && result.error().code != errc::exceeded) refused += 10'000;
          ++answered;
        });
      }
    });
  for (auto& each : clients)
    each.join();
  CHECK(eventually([&] { return answered == 400; }));
  CHECK(made == 100);
  CHECK(refused == 300);
  CHECK(store->read().count(key_of("")) == 100);
}

TEST_CASE("a bound refuses only creations and reports usage and limit") {
  any_store store;
  const auto bounded = [&](mutation request, bound limit) {
    auto made = just(std::move(request));
    made.bounds.push_back(std::move(limit));
    return commit(*store, std::move(made));
  };
  const bound two{bound::measure::objects, key_of(""), 2};
  must(bounded(put("a", "1"), two));
  must(bounded(put("b", "1"), two));
  const auto third = bounded(put("c", "1"), two);
  REQUIRE_FALSE(third);
  CHECK(third.error().code == errc::exceeded);
  CHECK(third.error().key == key_of(""));
  CHECK(third.error().actual == 2);
  CHECK(third.error().limit == 2);
  must(bounded(put("a", "2"), two));
  must(bounded(put_lease("l", "me"), two));
  must(bounded(remove("b"), two));
  must(bounded(put("c", "1"), two));

  const auto large = bounded(put("d", "1", 5'000), {bound::measure::bytes, {}, 5'000});
  REQUIRE_FALSE(large);
  CHECK(large.error().key.empty());
  CHECK(large.error().actual > 100);
  CHECK(large.error().actual < 1'000);
  must(bounded(put("a", "1", 6'000), {bound::measure::bytes, {}, 5'000}));
  CHECK_FALSE(bounded(put("d", "1"), {bound::measure::bytes, {}, 5'000}));
  must(bounded(remove("a"), {bound::measure::bytes, {}, 5'000}));
  must(bounded(put("d", "1"), {bound::measure::bytes, {}, 5'000}));
}

TEST_CASE("the bytes of a store are the same after it is opened again") {
  scratch_directory place;
  const auto bytes = [](store& store) {
    auto request = just(put("never", "1"));
    request.bounds.push_back({bound::measure::bytes, {}, 1});
    return commit(store, std::move(request)).error().actual;
  };
  revision before = 0;
  {
    const auto store = open(in_directory(place.path()));
    for (int i = 0; i < 100; ++i)
      must(commit(*store, just(put("x" + std::to_string(i), "1", 100))));
    must(commit(*store, just(put("x1", "1", 1'000))));
    must(commit(*store, just(remove("x2"))));
    before = bytes(*store);
  }
  CHECK(before > 100 * 100);
  CHECK(bytes(*open(in_directory(place.path()))) == before);
}

}  // namespace
}  // namespace troupe::persistence::testing
