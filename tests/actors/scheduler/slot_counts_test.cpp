#include "actors/scheduler/framework/slot_counts.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

namespace troupe::actors::scheduler {

TEST_CASE("counters by slot equal the sums that were added, over many pages", "[scheduler]") {
  std::mt19937_64 random{17};
  slot_counts counts;
  std::map<std::uint32_t, std::int64_t> expected;
  for (int step = 0; step < 5'000; ++step) {
    const auto slot = static_cast<std::uint32_t>(random() % 8 * 33);
    const bool remove = random() % 2 == 0 && expected.contains(slot);
    counts.add(slot, remove ? -1 : +1);
    if ((expected[slot] += remove ? -1 : +1) == 0) expected.erase(slot);
    std::map<std::uint32_t, std::int64_t> seen;
    counts.each([&](std::uint32_t at, std::int64_t count) { seen[at] = count; });
    REQUIRE(seen == expected);
    REQUIRE(counts.empty() == expected.empty());
    REQUIRE(counts.at(slot) == (expected.contains(slot) ? expected[slot] : 0));
  }
  CHECK(counts.at(100'000) == 0);
}

}  // namespace troupe::actors::scheduler
