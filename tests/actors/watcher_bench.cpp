// How fast the watcher serves many subscribers: actors_test "[.bench]".
#include <spdlog/fmt/fmt.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "actors/core/informer.hpp"
#include "actors/core_fixture.hpp"
#include "actors/watch/watcher.hpp"
#include "api/schema/core_pod.pb.h"
#include "runtime/actor_system.hpp"
#include "support/nodes.hpp"

namespace troupe::test {

using api::core::v1::Pod;
using persistence::change;

namespace {

// Counts down the events that all subscribers together must receive.
struct finish_line {
  std::atomic<std::int64_t> left{0};
  std::mutex mutex;
  std::condition_variable crossed;

  void pass(std::int64_t count) {
    if (left.fetch_sub(count) - count > 0) return;
    std::lock_guard lock{mutex};
    crossed.notify_all();
  }
  bool wait() {
    std::unique_lock lock{mutex};
    return crossed.wait_for(lock, std::chrono::seconds{60}, [this] { return left <= 0; });
  }
};

class runner : public actors::informer {
 public:
  runner(runtime::actor_ref watcher, actors::stream_options options, finish_line* line)
      : informer{std::move(watcher)}, options_{std::move(options)}, line_{line} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&runner::on_watch_events, &runner::on_watch_ended);
    return table;
  }

  void started() override {
    follow(
        api::kind_of<Pod>().prefix(),
        [this](const actors::watch_events& m) {
          // The first message is the empty initial state: the subscriber is registered.
          const auto count = static_cast<std::int64_t>(m.events.size());
          line_->pass(std::exchange(placed_, true) ? count : 1);
        },
        options_);
  }

 private:
  actors::stream_options options_;
  finish_line* line_;
  bool placed_ = false;
};

std::vector<persistence::change_batch> history(int changes, int batch_size, int nodes) {
  std::vector<persistence::change_batch> batches;
  auto batch = std::make_shared<std::vector<change>>();
  for (int i = 0; i < changes; ++i) {
    auto pod = std::make_unique<Pod>(
        pod_named("pod-" + std::to_string(i), "n" + std::to_string(i % nodes)));
    change c;
    c.at = static_cast<persistence::revision>(i + 2);
    c.key = api::kind_of<Pod>().key("default", pod->metadata().name());
    c.object = std::make_shared<const api::object>(api::kind_of<Pod>(), std::move(pod), c.at);
    batch->push_back(std::move(c));
    if (static_cast<int>(batch->size()) < batch_size && i + 1 < changes) continue;
    batches.push_back(std::exchange(batch, std::make_shared<std::vector<change>>()));
  }
  return batches;
}

struct race {
  const char* name;
  int subscribers;
  int changes;
  int batch;
  enum { all, filtered, by_node } watches;
};

void run(const race& r) {
  persistence::store_options in_memory;
  in_memory.threaded = false;
  const auto store = std::move(persistence::store::open(std::move(in_memory)).value());
  runtime::actor_system system;
  const auto watcher =
      system.spawn({.kind = "watcher", .name = "watcher"},
                   runtime::make<actors::watcher>(store.get(), actors::watcher_options{}));
  finish_line line;
  line.left = r.subscribers;
  for (int i = 0; i < r.subscribers; ++i) {
    actors::stream_options options;
    if (r.watches == race::filtered) {
      options.accept = [](const api::object& object) {
        return object.as<Pod>().spec().restart_policy().empty();
      };
    }
    if (r.watches == race::by_node) options.on_node = "n" + std::to_string(i);
    system.spawn({.kind = "runner", .name = std::to_string(i)},
                 runtime::make<runner>(watcher, options, &line));
  }
  REQUIRE(line.wait());
  const auto batches = history(r.changes, r.batch, r.subscribers);
  const std::int64_t events =
      r.watches == race::by_node ? r.changes : std::int64_t{r.changes} * r.subscribers;
  line.left = events;
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& batch : batches)
    watcher.tell(actors::committed{batch->front().at - 1, batch});
  REQUIRE(line.wait());
  const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print(
      "{:<34} {:>6} subscribers {:>6} changes {:>8.3f} s {:>11.0f} events/s {:>9.0f} changes/s\n",
      r.name, r.subscribers, r.changes, took, static_cast<double>(events) / took, r.changes / took);
}

}  // namespace

TEST_CASE("fan-out of the watcher", "[.bench]") {
  run({"same list, batches of 1", 100, 10'000, 1, race::all});
  run({"same list, batches of 64", 100, 10'000, 64, race::all});
  run({"own filter, batches of 1", 100, 10'000, 1, race::filtered});
  run({"own filter, batches of 64", 100, 10'000, 64, race::filtered});
  run({"one node each, batches of 1", 1'000, 10'000, 1, race::by_node});
  run({"one node each, batches of 64", 1'000, 10'000, 64, race::by_node});
  run({"same list, idle mass", 10'000, 10, 1, race::all});
}

}  // namespace troupe::test
