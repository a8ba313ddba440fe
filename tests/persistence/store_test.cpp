// The contract of store.hpp, on both engines.
#include "persistence/store.hpp"

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
  any_store truth;
  CHECK(truth->read().at() == defaults::first_revision);
  CHECK(truth->read().size() == 0);
  CHECK(truth->changes(defaults::first_revision, 10)->empty());
  CHECK(truth->cluster_id().size() == 36);
}

TEST_CASE("a committed object can be read, with its revision as resourceVersion") {
  any_store truth;
  const auto done = commit(*truth, just(put("a", "1")));
  CHECK(must(done) == defaults::first_revision + 1);
  REQUIRE(done->objects.size() == 1);
  const auto found = truth->read().find(key_of("a"));
  CHECK(found == done->objects[0]);
  CHECK(value_of(found) == "1");
  CHECK(found->meta().resource_version() == std::to_string(done->at));
  CHECK(truth->read().find(key_of("b")) == nullptr);
}

TEST_CASE("every transaction gets the next revision, whatever it changes") {
  any_store truth;
  const auto first = must(commit(*truth, just(put("a", "1"))));
  CHECK(must(commit(*truth, just(put("a", "2")))) == first + 1);
  transaction both;
  both.mutations.push_back(put("b", "1"));
  both.mutations.push_back(put("c", "1"));
  both.mutations.push_back(remove("a"));
  CHECK(must(commit(*truth, std::move(both))) == first + 2);
  CHECK(must(commit(*truth, just(put("d", "1")))) == first + 3);
  const auto at = [&](revision r) { return "@" + std::to_string(r); };
  CHECK(contents(truth->read()) == std::vector<std::string>{"b=1" + at(first + 2),
                                                            "c=1" + at(first + 2),
                                                            "d=1" + at(first + 3)});
}

TEST_CASE("a precondition that does not hold is a conflict that names key and revision") {
  any_store truth;
  const auto at = must(commit(*truth, only_if(0, put("a", "1"))));
  const auto exists = commit(*truth, only_if(0, put("a", "2")));
  REQUIRE_FALSE(exists);
  CHECK(exists.error().code == errc::conflict);
  CHECK(exists.error().key == key_of("a"));
  CHECK(exists.error().actual == at);
  const auto absent = commit(*truth, only_if(at, put("b", "2")));
  REQUIRE_FALSE(absent);
  CHECK(absent.error().actual == 0);
  CHECK(must(commit(*truth, only_if(at, put("a", "2")))) == at + 1);
  const auto stale = commit(*truth, only_if(at, put("a", "3")));
  REQUIRE_FALSE(stale);
  CHECK(stale.error().actual == at + 1);
  CHECK(value_of(truth->read().find(key_of("a"))) == "2");
  CHECK(truth->stats().conflicts == 3);
}

TEST_CASE("one precondition that fails undoes the whole transaction") {
  any_store truth;
  must(commit(*truth, just(put("a", "1"))));
  const auto before = truth->read();
  transaction both;
  both.preconditions = {{key_of("b"), 0}, {key_of("a"), 0}};
  both.mutations.push_back(put("b", "1"));
  both.mutations.push_back(remove("a"));
  CHECK_FALSE(commit(*truth, std::move(both)));
  CHECK(contents(truth->read()) == contents(before));
  CHECK(truth->read().at() == before.at());
}

TEST_CASE("a removal answers with the last state, stamped with its own revision") {
  any_store truth;
  const auto made = commit(*truth, just(put("a", "1")));
  const auto gone = commit(*truth, only_if(made->at, remove("a")));
  CHECK(must(gone) == made->at + 1);
  CHECK(value_of(gone->objects[0]) == "1");
  CHECK(gone->objects[0]->revision() == gone->at);
  CHECK(made->objects[0]->revision() == made->at);
  CHECK(truth->read().size() == 0);
}

TEST_CASE("a transaction that changes nothing takes no revision") {
  any_store truth;
  const auto at = must(commit(*truth, just(put("a", "1"))));
  const auto nothing = commit(*truth, just(remove("b")));
  CHECK(must(nothing) == at);
  CHECK(nothing->objects == std::vector<api::object_ptr>{nullptr});
  transaction question;
  question.preconditions = {{key_of("a"), at}};
  CHECK(must(commit(*truth, std::move(question))) == at);
  const auto wrong = commit(*truth, only_if(at + 5, remove("b")));
  CHECK_FALSE(wrong);
  CHECK(truth->read().at() == at);
}

TEST_CASE("what is wrong in itself is refused before submit returns") {
  store_options options;
  options.value_limit_bytes = 4'096;
  const auto truth = open(options);
  const auto refusal = [&](transaction what) {
    std::optional<outcome> told;
    truth->submit(std::move(what), [&](outcome result) { told = std::move(result); });
    REQUIRE(told);
    REQUIRE_FALSE(*told);
    return told->error();
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
  CHECK(truth->read().size() == 0);
}

TEST_CASE("of two updates from one revision exactly one wins") {
  any_store truth;
  auto at = must(commit(*truth, just(put("a", "0"))));
  for (int round = 0; round < 50; ++round) {
    std::promise<outcome> answers[2];
    std::thread threads[2];
    for (int i = 0; i < 2; ++i)
      threads[i] = std::thread{[&, i] {
        truth->submit(only_if(at, put("a", std::to_string(i))),
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
    CHECK(value_of(truth->read().find(key_of("a"))) == winner);
  }
}

TEST_CASE("the observer is told every change in order, before those who asked for it") {
  any_store truth;
  // All of it belongs to the commit threads, one at a time, until the last answer.
  std::vector<std::string> seen;
  std::vector<revision> answered;
  revision newest = 0;
  bool visible_first = true, told_first = true;
  truth->observe([&](const change_batch& batch) {
    for (const auto& each : *batch) {
      seen.push_back(line_of(each));
      newest = each.at;
    }
    visible_first = visible_first && truth->read().at() == newest;
  });
  const auto answer = [&](const outcome& result) {
    answered.push_back(result ? result->at : 0);
    told_first = told_first && newest >= answered.back();
  };
  truth->submit(just(put("a", "1")), answer);
  truth->submit(just(put("a", "2")), answer);
  must(commit(*truth, just(put("b", "1"))));
  truth->submit(just(remove("a")), answer);
  must(commit(*truth, just(put("c", "1"))));
  CHECK(seen == std::vector<std::string>{"2 created a 1@2", "3 updated a 2@3 <- 1@2",
                                         "4 created b 1@4", "5 removed a 2@5 <- 2@3",
                                         "6 created c 1@6"});
  CHECK(answered == std::vector<revision>{2, 3, 5});
  CHECK(visible_first);
  CHECK(told_first);
}

TEST_CASE("a change carries who made it, why and when") {
  any_store truth;
  auto what = just(put("a", "1"));
  what.why = {17, 3, "replicationcontroller/web"};
  const auto before = std::chrono::system_clock::now();
  const auto at = must(commit(*truth, std::move(what)));
  const auto found = truth->changes(at - 1, 1);
  REQUIRE(found);
  const auto& why = found->at(0).why;
  CHECK(why.request == 17);
  CHECK(why.trigger == 3);
  CHECK(why.author == "replicationcontroller/web");
  CHECK(found->at(0).when >= std::chrono::floor<std::chrono::microseconds>(before));
  CHECK(found->at(0).when <= std::chrono::system_clock::now());
}

TEST_CASE("a snapshot stays as it was while the store goes on") {
  any_store truth;
  for (int i = 0; i < 100; ++i)
    must(commit(*truth, just(put(std::to_string(i), "old"))));
  const auto before = truth->read();
  const auto lines = contents(before);
  for (int i = 0; i < 100; i += 2)
    must(commit(*truth, just(put(std::to_string(i), "new"))));
  for (int i = 1; i < 100; i += 2)
    must(commit(*truth, just(remove(std::to_string(i)))));
  CHECK(contents(before) == lines);
  CHECK(before.count(key_of("")) == 100);
  CHECK(truth->read().count(key_of("")) == 50);
}

TEST_CASE("readers beside a writer only ever see whole transactions") {
  any_store truth;
  std::atomic<bool> stop{false}, torn{false}, back{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&] {
      revision newest = 0;
      while (!stop) {
        const auto state = truth->read();
        if (state.at() < newest) back = true;
        newest = state.at();
        if (value_of(state.find(key_of("a"))) != value_of(state.find(key_of("b")))) torn = true;
      }
    });
  for (int i = 0; i < 300; ++i) {
    transaction both;
    both.mutations.push_back(put("a", std::to_string(i)));
    both.mutations.push_back(put("b", std::to_string(i)));
    must(commit(*truth, std::move(both)));
  }
  stop = true;
  for (auto& each : readers)
    each.join();
}

TEST_CASE("many submitters lose nothing and share no revision") {
  any_store truth;
  constexpr int threads = 4, each_commits = 250;
  std::mutex mutex;
  std::set<revision> revisions;
  std::atomic<int> answered{0};
  std::vector<std::thread> submitters;
  for (int t = 0; t < threads; ++t)
    submitters.emplace_back([&, t] {
      for (int i = 0; i < each_commits; ++i)
        truth->submit(just(put(fmt::format("{}-{}", t, i), "1")), [&](const outcome& result) {
          std::lock_guard lock{mutex};
          if (result) revisions.insert(result->at);
          ++answered;
        });
    });
  for (auto& each : submitters)
    each.join();
  REQUIRE(eventually([&] { return answered == threads * each_commits; }));
  CHECK(revisions.size() == threads * each_commits);
  CHECK(truth->read().size() == threads * each_commits);
  CHECK(truth->stats().batches < threads * each_commits);
}

TEST_CASE("a full queue refuses at once and the store recovers from it") {
  store_options options;
  options.queue_limit = 3;
  const auto truth = open(options);
  std::promise<void> release;
  std::promise<void> held;
  const auto released = release.get_future().share();
  truth->submit(just(put("first", "1")), [&](const outcome&) {
    held.set_value();
    released.wait();
  });
  held.get_future().wait();
  std::atomic<int> done{0};
  const auto count = [&](const outcome& result) { done += result.has_value(); };
  for (int i = 0; i < 3; ++i)
    truth->submit(just(put(std::to_string(i), "1")), count);
  CHECK(truth->stats().queued == 3);
  const auto refused = commit(*truth, just(put("4", "1")));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::overloaded);
  release.set_value();
  CHECK(eventually([&] { return done == 3; }));
  must(commit(*truth, just(put("4", "1"))));
}

TEST_CASE("closing commits what waits") {
  scratch_directory place;
  std::atomic<int> done{0};
  {
    const auto truth = open(in_directory(place.path()));
    for (int i = 0; i < 200; ++i)
      truth->submit(just(put(std::to_string(i), "1")),
                    [&](const outcome& result) { done += result.has_value(); });
  }
  CHECK(done == 200);
  CHECK(open(in_directory(place.path()))->read().size() == 200);
}

// -- bounds ---------------------------------------------------------------------------------------

TEST_CASE("a bound is exact however many transactions meet it at once") {
  any_store truth;
  const bound most{bound::measure::objects, key_of(""), 100};
  std::atomic<int> made{0}, refused{0}, answered{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c)
    clients.emplace_back([&, c] {
      for (int i = 0; i < 50; ++i) {
        auto what = just(put("x" + std::to_string(c * 100 + i), "1"));
        what.bounds.push_back(most);
        truth->submit(std::move(what), [&](const outcome& result) {
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
  CHECK(truth->read().count(key_of("")) == 100);
}

TEST_CASE("a bound refuses creations alone and says what there is and what may be") {
  any_store truth;
  const auto bounded = [&](mutation what, bound most) {
    auto made = just(std::move(what));
    made.bounds.push_back(std::move(most));
    return commit(*truth, std::move(made));
  };
  const bound two{bound::measure::objects, key_of(""), 2};
  must(bounded(put("a", "1"), two));
  must(bounded(put("b", "1"), two));
  const auto third = bounded(put("c", "1"), two);
  REQUIRE_FALSE(third);
  CHECK(third.error().code == errc::exceeded);
  CHECK(third.error().key == key_of(""));
  CHECK(third.error().actual == 2);
  CHECK(third.error().most == 2);
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
  const auto bytes = [](store& truth) {
    auto what = just(put("never", "1"));
    what.bounds.push_back({bound::measure::bytes, {}, 1});
    return commit(truth, std::move(what)).error().actual;
  };
  revision before = 0;
  {
    const auto truth = open(in_directory(place.path()));
    for (int i = 0; i < 100; ++i)
      must(commit(*truth, just(put("x" + std::to_string(i), "1", 100))));
    must(commit(*truth, just(put("x1", "1", 1'000))));
    must(commit(*truth, just(remove("x2"))));
    before = bytes(*truth);
  }
  CHECK(before > 100 * 100);
  CHECK(bytes(*open(in_directory(place.path()))) == before);
}

}  // namespace
}  // namespace troupe::persistence::testing
