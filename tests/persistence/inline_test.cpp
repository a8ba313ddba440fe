// A store without threads: all work happens on the caller's thread, deterministically.
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>
#include <random>

#include "persistence/fixture.hpp"

namespace troupe::persistence::testing {
namespace {

store_options inline_options() {
  store_options options;
  options.threaded = false;
  options.cluster_id = "of-the-test";
  options.wall_clock = [at = std::make_shared<std::int64_t>(0)] {
    return std::chrono::system_clock::time_point{std::chrono::milliseconds{++*at}};
  };
  return options;
}

TEST_CASE("without threads a submission is committed and answered before submit returns") {
  const auto store = open(inline_options());
  std::vector<std::string> order;
  store->observe([&](revision, const change_batch& batch) {
    for (const auto& each : *batch)
      order.push_back(line_of(each));
  });
  store->submit(just(put("a", "1")), [&](const outcome&) { order.push_back("answered"); });
  CHECK(order == std::vector<std::string>{"2 created a 1@2", "answered"});
  CHECK(store->cluster_id() == "of-the-test");
}

TEST_CASE("a submission by a completion or the observer is committed after it, not within it") {
  const auto store = open(inline_options());
  std::vector<std::string> order;
  store->observe([&](revision, const change_batch& batch) {
    order.push_back(fmt::format("see {}", batch->front().at));
    if (batch->front().at == 3)
      store->submit(just(put("c", "1")), [&](const outcome&) { order.push_back("c"); });
    order.push_back("seen");
  });
  store->submit(just(put("a", "1")), [&](const outcome&) {
    order.push_back("a begins");
    store->submit(just(put("b", "1")), [&](const outcome&) { order.push_back("b"); });
    order.push_back("a ends");
  });
  CHECK(order == std::vector<std::string>{"see 2", "seen", "a begins", "a ends", "see 3", "seen",
                                          "b", "see 4", "seen", "c"});
  CHECK(store->read().size() == 3);
}

TEST_CASE("a chain of completions that submit does not grow the stack") {
  const auto store = open(inline_options());
  int left = 20'000;
  std::function<void(outcome)> next = [&](const outcome&) {
    if (--left > 0) store->submit(just(put("a", "1")), next);
  };
  store->submit(just(put("a", "1")), next);
  CHECK(left == 0);
  CHECK(store->read().at() == 20'001);
}

TEST_CASE("the same submissions give the same history") {
  const auto run = [](std::uint64_t seed) {
    std::mt19937_64 random{seed};
    const auto store = open(inline_options());
    for (int i = 0; i < 500; ++i) {
      const auto name = std::to_string(random() % 20);
      const revision guess = random() % 2 == 0 ? 0 : random() % store->read().at();
      store->submit(only_if(guess, random() % 3 == 0 ? remove(name) : put(name, "x")),
                    [](const outcome&) {});
    }
    std::string history;
    const auto log = store->changes(1, 10'000);
    for (const auto& each : *log)
      history += fmt::format("{} at {}\n", line_of(each), each.time.time_since_epoch().count());
    return history;
  };
  CHECK(run(7) == run(7));
  CHECK(run(7) != run(8));
}

}  // namespace
}  // namespace troupe::persistence::testing
