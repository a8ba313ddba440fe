#include "persistence/log/revision_gaps.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "persistence/defaults.hpp"

namespace troupe::persistence::testing {

TEST_CASE("gaps in revisions are skipped from any start") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random{seed};
    revision_gaps gaps;
    std::set<revision> used;
    revision current = 0;
    for (int i = 0; i < 8; ++i) {
      for (auto steps = random() % 6; steps > 0; --steps)
        used.insert(++current);
      const auto after = current;
      current += random() % 6;
      gaps.add(after, current);
    }
    INFO("seed " << seed << ": " << gaps.str());
    CHECK(revision_gaps::read(gaps.str()) == gaps);
    for (revision after = 0; after <= current; ++after) {
      const auto begin = used.upper_bound(after);
      for (revision to = after; to <= current; ++to)
        REQUIRE(gaps.used(after, to) ==
                static_cast<revision>(std::distance(begin, used.upper_bound(to))));
    }
    for (revision count = 0; count <= current; ++count) {
      const auto at = gaps.before_last(current, count);
      REQUIRE(gaps.used(at, current) == std::min<revision>(count, used.size()));
      if (count > used.size()) REQUIRE(at == 0);
    }
    for (revision at = 0; at < current; ++at) {
      const auto later = used.upper_bound(at);
      if (later != used.end()) REQUIRE(gaps.next(at) == *later);
    }
    const auto half = current / 2;
    auto later = gaps;
    later.forget(half);
    CHECK(later.used(half, current) == gaps.used(half, current));
  }
}

TEST_CASE("a gap grows as long as nothing behind it is used") {
  revision_gaps gaps;
  gaps.add(5, 10);
  gaps.add(5, 20);
  gaps.add(20, 30);
  CHECK(gaps.str() == "5-30");
}

TEST_CASE("of very many gaps the newest are remembered") {
  revision_gaps gaps;
  const revision many = defaults::revision_gaps + 10;
  for (revision i = 0; i < many; ++i)
    gaps.add(10 * i + 1, 10 * i + 10);
  CHECK(gaps.used(100, 10 * many) == many - 10);
  CHECK(gaps.used(0, 100) == 100);
}

TEST_CASE("an invalid list of gaps is refused") {
  for (const char* text : {"1", "1-", "-2", "2-1", "3-3", "1-5 4-6", "a-b", "1-2x"})
    CHECK_FALSE(revision_gaps::read(text));
  CHECK(revision_gaps::read("") == revision_gaps{});
}

}  // namespace troupe::persistence::testing
