// When the queue gives its consumer the next batch.
#include <catch2/catch.hpp>
#include <future>

#include "persistence/commit/submission.hpp"

namespace troupe::persistence {
namespace {

using namespace std::chrono_literals;

constexpr submit_queue::batch_size all{100, 100};

void push(submit_queue& queue, int count) {
  for (int i = 0; i < count; ++i) {
    submission next;
    next.size_bytes = 1;
    REQUIRE(queue.push(next));
  }
}

// As the consumer's thread: waits as long as it takes.
std::future<std::size_t> batch_of(submit_queue& queue) {
  return std::async(std::launch::async, [&queue] {
    return queue.take(all, submit_queue::deadline::max()).submissions.size();
  });
}

std::size_t soon(std::future<std::size_t> batch) {
  REQUIRE(batch.wait_for(30s) == std::future_status::ready);
  return batch.get();
}

TEST_CASE("a batch waits for the clients that were just answered") {
  submit_queue queue{100, 100};
  push(queue, 2);
  CHECK(soon(batch_of(queue)) == 2);
  for (int round = 0; round < 100; ++round) {
    push(queue, 1);  // of a third client, while the disk is busy
    queue.release_disk(2, 1h);
    auto next = batch_of(queue);
    push(queue, 1);
    push(queue, 1);
    REQUIRE(soon(std::move(next)) == 3);
  }
}

TEST_CASE(
    "a batch waits for no client longer than its patience, and after that not at once again") {
  submit_queue queue{100, 100};
  push(queue, 4);
  CHECK(soon(batch_of(queue)) == 4);
  queue.release_disk(4, 1ms);
  push(queue, 1);
  CHECK(soon(batch_of(queue)) == 1);
  for (int round = 0; round < 2; ++round) {
    queue.release_disk(4, 1h);
    push(queue, 1);
    CHECK(soon(batch_of(queue)) == 1);
  }
  // Tried again.
  queue.release_disk(4, 1h);
  auto next = batch_of(queue);
  push(queue, 4);
  CHECK(soon(std::move(next)) == 4);
}

TEST_CASE("a batch does not wait for a single client, nor for those of a large batch") {
  submit_queue queue{100, 100};
  for (const std::size_t answered : {1, 90}) {
    queue.release_disk(answered, 1h);
    push(queue, 1);
    CHECK(soon(batch_of(queue)) == 1);
  }
}

TEST_CASE("a queue that is held or closed does not wait for clients") {
  submit_queue queue{100, 100};
  queue.hold(true);
  queue.release_disk(4, 1ms);
  push(queue, 1);
  auto next = batch_of(queue);
  queue.hold(false);
  CHECK(soon(std::move(next)) == 1);
  submit_queue closed{100, 100};
  closed.release_disk(4, 1h);
  push(closed, 1);
  auto last = batch_of(closed);
  closed.close();
  CHECK(soon(std::move(last)) == 1);
}

}  // namespace
}  // namespace troupe::persistence
