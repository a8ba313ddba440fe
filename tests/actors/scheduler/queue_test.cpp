#include "actors/scheduler/queue.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "actors/scheduler/framework/defaults.hpp"
#include "actors/scheduler/profile.hpp"
#include "builders.hpp"

namespace troupe::actors::scheduler {

using namespace std::chrono_literals;

namespace {

struct bench {
  std::unique_ptr<profile> with = *profile::make(*built_in_profile("today"));
  queue waiting{{1s, 10s}, with->order()};
  runtime::time_point now{};

  std::string next() {
    const auto pod = waiting.next(now);
    return pod ? pod->pod->meta().name() : "";
  }
};

}  // namespace

TEST_CASE("pods leave the queue by priority, then in order of arrival", "[scheduler]") {
  bench b;
  b.waiting.add(make_request("first", "1", "1Mi"), b.now);
  b.waiting.add(make_request("second", "1", "1Mi"), b.now);
  b.waiting.add(make_request("urgent", "1", "1Mi", 10), b.now);
  CHECK(b.next() == "urgent");
  CHECK(b.next() == "first");
  CHECK(b.next() == "second");
  CHECK(b.next().empty());
}

TEST_CASE("an error is tried again after 1 s, doubling to the limit", "[scheduler]") {
  bench b;
  const auto pod = make_request("p", "1", "1Mi");
  b.waiting.add(pod, b.now);
  for (const auto wait : {1s, 2s, 4s, 8s, 10s, 10s}) {
    REQUIRE(b.next() == "p");
    b.waiting.refused(pod, 0, b.now);
    b.now += wait - 1ms;
    CHECK(b.next().empty());
    CHECK(b.waiting.next_due() == b.now + 1ms);
    b.now += 1ms;
  }
}

TEST_CASE("in the profile of 2014 the longest wait is a minute", "[scheduler]") {
  const auto old = *built_in_profile("2014");
  bench b;
  b.waiting = queue{{old.backoff_first, old.backoff_longest}, nullptr};
  const auto pod = make_request("p", "1", "1Mi");
  b.waiting.add(pod, b.now);
  for (const auto wait : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    REQUIRE(b.next() == "p");
    b.waiting.refused(pod, 0, b.now);
    CHECK(b.waiting.next_due() == b.now + wait);
    b.now += wait;
  }
}

TEST_CASE("an unschedulable pod waits for an event that can help it", "[scheduler]") {
  bench b;
  const auto pod = make_request("p", "1", "1Mi");
  b.waiting.add(pod, b.now);
  b.next();
  b.waiting.refused(pod, pod_deleted | node_added, b.now);
  b.now += 20s;
  b.waiting.happened(node_labels_changed, b.now);
  CHECK(b.next().empty());
  b.waiting.happened(node_added, b.now);
  CHECK(b.next() == "p");

  b.waiting.refused(pod, node_added, b.now);
  b.waiting.happened(node_added, b.now);  // the event helps, but the pod's back-off is not over
  CHECK(b.next().empty());
  b.now += 2s;
  CHECK(b.next() == "p");
}

TEST_CASE("no pod waits as unschedulable for more than five minutes", "[scheduler]") {
  bench b;
  const auto pod = make_request("p", "1", "1Mi");
  b.waiting.add(pod, b.now);
  b.next();
  b.waiting.refused(pod, node_added, b.now);
  b.now += defaults::unschedulable_longest - 1s;
  b.waiting.flush(b.now);
  CHECK(b.next().empty());
  b.now += 1s;
  b.waiting.flush(b.now);
  CHECK(b.next() == "p");
}

TEST_CASE("a preempting pod is tried as soon as its victims are gone", "[scheduler]") {
  bench b;
  const auto pod = make_request("p", "1", "1Mi");
  b.waiting.add(pod, b.now);
  b.next();
  b.waiting.nominated(pod, b.now);
  b.waiting.happened(pod_deleted, b.now);
  CHECK(b.next() == "p");
}

TEST_CASE("no pod is lost or duplicated, for any order of events", "[scheduler]") {
  std::mt19937 random{4};
  bench b;
  std::set<std::string> expected;
  std::map<std::string, pod_info_ptr> trying;
  std::uint64_t revision = 1;
  for (int step = 0; step < 20'000; ++step) {
    const auto name = "p" + std::to_string(random() % 30);
    switch (random() % 6) {
      case 0:
        b.waiting.add(make_pod(name, "{}", "{}", ++revision), b.now);
        expected.insert(name);
        break;
      case 1: {
        const auto pod = make_pod(name);
        b.waiting.remove(pod->key);
        expected.erase(name);
        trying.erase(name);
        break;
      }
      case 2:
        if (const auto pod = b.waiting.next(b.now)) {
          REQUIRE(expected.contains(pod->pod->meta().name()));
          REQUIRE(trying.emplace(pod->pod->meta().name(), pod).second);
        }
        break;
      case 3:
        if (const auto any = trying.begin(); any != trying.end()) {
          b.waiting.refused(any->second, random() % 8, b.now);
          trying.erase(any);
        }
        break;
      case 4:
        b.waiting.happened(1u << random() % 7, b.now);
        break;
      default:
        b.now += std::chrono::milliseconds{random() % 3'000};
        b.waiting.flush(b.now);
    }
    REQUIRE(b.waiting.active() + b.waiting.backing_off() + b.waiting.unschedulable() +
                trying.size() ==
            expected.size());
  }
}

}  // namespace troupe::actors::scheduler
